import { connect, createServer, type Socket } from 'node:net';
import { freePort } from '../../../tooling/servers/free-port.js';

interface TcpProxy {
  port: number;
  close(): Promise<void>;
}

/**
 * Stands before a server on 127.0.0.1, on a port of its own. Neither end of a connection outlives the other.
 *
 * @param join is given both ends of each new connection, and passes on what it likes
 */
async function startProxy(
  targetPort: number,
  join: (client: Socket, server: Socket) => void,
): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  const listener = createServer((client) => {
    const server = connect(targetPort, '127.0.0.1');
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        server.destroy();
      });
    }
    join(client, server);
  });
  const port = await freePort();
  await new Promise<void>((listening) => listener.listen(port, '127.0.0.1', listening));
  const close = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    await new Promise((closed) => listener.close(closed));
  };
  return { port, close };
}

/**
 * - `pass`: bytes go both ways.
 * - `lose answer`: the statement reaches the server, takes effect, and the connection ends before its answer.
 * - `lose request`: the connection ends before the statement reaches the server.
 */
export type CommitFault = 'pass' | 'lose answer' | 'lose request';

/** Stands before a MariaDB server and knows one kind of statement: COMMIT, unless another is named. */
interface CommitProxy extends TcpProxy {
  fault: CommitFault;
  statement: RegExp;
  /** connections ended at their statement */
  cut: number;
}

/** the command byte of a statement, after the packet's length and number */
const COM_QUERY = 3;
const HEADER_BYTES = 4;

export async function startCommitProxy(targetPort: number): Promise<CommitProxy> {
  const state = { fault: 'pass' as CommitFault, statement: /^COMMIT/, cut: 0 };
  const proxy = await startProxy(targetPort, (client, server) => {
    let doomed = false;
    const end = (): void => {
      state.cut += 1;
      client.resetAndDestroy();
      server.destroy();
    };
    client.on('data', (bytes: Buffer) => {
      doomed = state.fault !== 'pass' && state.statement.test(statementIn(bytes));
      if (doomed && state.fault === 'lose request') end();
      else server.write(bytes);
    });
    server.on('data', (bytes: Buffer) => {
      if (doomed) end();
      else client.write(bytes);
    });
  });
  return Object.assign(state, proxy);
}

function statementIn(bytes: Buffer): string {
  return bytes[HEADER_BYTES] === COM_QUERY ? bytes.toString('utf8', HEADER_BYTES + 1) : '';
}

/** Keeps what passes, in both directions, as somebody on the network would. */
interface WireTap extends TcpProxy {
  /** Whether the text passed as it is. */
  hears(text: string): boolean;
  /** Resets a connection as soon as its client says something. */
  resets: boolean;
}

export async function startWireTap(targetPort: number): Promise<WireTap> {
  const heard: Buffer[] = [];
  const proxy = await startProxy(targetPort, (client, server) => {
    client.on('data', (chunk) => {
      if (tap.resets) client.resetAndDestroy();
      heard.push(Buffer.from(chunk));
      server.write(chunk);
    });
    server.on('data', (chunk) => {
      heard.push(Buffer.from(chunk));
      client.write(chunk);
    });
  });
  const tap = { ...proxy, resets: false, hears: (text: string) => Buffer.concat(heard).includes(text) };
  return tap;
}
