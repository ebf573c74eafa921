import { connect, createServer, type Socket } from 'node:net';
import { freePort } from '../../../client/src/free-port.ts';

/**
 * Stands before a server on 127.0.0.1, on a port of its own. Neither end of a connection outlives the other.
 *
 * @param join is given both ends of each new connection, and passes on what it likes
 */
async function startProxy(targetPort: number, join: (client: Socket, server: Socket) => void) {
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

/** the command byte of a statement, after the packet's length and number */
const COM_QUERY = 3;
const HEADER_BYTES = 4;
/** A process clears the marks of events and notes logins by itself: the COMMIT after these belongs to no request. */
const IN_BACKGROUND =
  /^(?:SELECT id FROM events WHERE id IN|UPDATE events SET pending|SELECT id FROM users WHERE id IN|DELETE FROM `?login_traces)/;

/** Stands before a MariaDB server and knows one kind of statement: COMMIT, unless another is named. */
export async function startCommitProxy(targetPort: number) {
  /** `cut` counts the connections that ended at their statement */
  const state = { fault: 'pass' as CommitFault, statement: /^COMMIT/, cut: 0 };
  const proxy = await startProxy(targetPort, (client, server) => {
    let doomed = false;
    let before = '';
    const end = (): void => {
      state.cut += 1;
      client.resetAndDestroy();
      server.destroy();
    };
    client.on('data', (bytes: Buffer) => {
      const text = bytes[HEADER_BYTES] === COM_QUERY ? bytes.toString('utf8', HEADER_BYTES + 1) : '';
      doomed = state.fault !== 'pass' && state.statement.test(text) && !IN_BACKGROUND.test(before);
      before = text;
      if (doomed && state.fault === 'lose request') end();
      else server.write(bytes);
    });
    server.on('data', (bytes: Buffer) => void (doomed ? end() : client.write(bytes)));
  });
  return Object.assign(state, proxy);
}

/** Stands before a MariaDB server. Answers to `statement` are late by `delayMs`. */
export async function startLateProxy(targetPort: number, statement: RegExp) {
  const state = { delayMs: 0, late: 0 };
  const proxy = await startProxy(targetPort, (client, server) => {
    let isLate = false;
    client.on('data', (bytes: Buffer) => {
      isLate = state.delayMs > 0 && statement.test(bytes.toString('utf8', HEADER_BYTES + 1));
      if (isLate) state.late += 1;
      server.write(bytes);
    });
    server.on('data', (bytes: Buffer) => {
      if (isLate) setTimeout(() => client.write(bytes), state.delayMs);
      else client.write(bytes);
    });
  });
  return Object.assign(state, proxy);
}

/**
 * Keeps what passes, in both directions, as somebody on the network would. If `resets`, resets a connection as soon as
 * its client says something.
 */
export async function startWireTap(targetPort: number) {
  const heard: Buffer[] = [];
  const tap = { resets: false, hears: (text: string): boolean => Buffer.concat(heard).includes(text) };
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
  return Object.assign(tap, proxy);
}
