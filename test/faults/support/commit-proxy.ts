import { connect, createServer, type Server, type Socket } from 'node:net';
import { freePort } from '../../../tooling/servers/free-port.js';

/**
 * - `pass`: bytes go both ways.
 * - `lose answer`: the statement reaches the server, takes effect, and the connection ends before its answer.
 * - `lose request`: the connection ends before the statement reaches the server.
 */
export type CommitFault = 'pass' | 'lose answer' | 'lose request';

/** the command byte of a statement, after the packet's length and number */
const COM_QUERY = 3;
const HEADER_BYTES = 4;

/** A TCP proxy before a MariaDB server that knows one kind of statement: COMMIT, unless another is named. */
export class CommitProxy {
  fault: CommitFault = 'pass';
  statement = /^COMMIT/;
  /** connections ended at their statement */
  cut = 0;
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();

  private constructor(
    readonly port: number,
    targetPort: number,
  ) {
    this.server = createServer((client) => this.accept(client, connect(targetPort, '127.0.0.1')));
  }

  static async start(targetPort: number): Promise<CommitProxy> {
    const proxy = new CommitProxy(await freePort(), targetPort);
    await new Promise<void>((listening) => proxy.server.listen(proxy.port, '127.0.0.1', listening));
    return proxy;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise<void>((closed) => this.server.close(() => closed()));
  }

  private accept(client: Socket, server: Socket): void {
    let doomed = false;
    for (const socket of [client, server]) {
      this.sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.sockets.delete(socket);
        client.destroy();
        server.destroy();
      });
    }
    const end = (): void => {
      this.cut += 1;
      client.resetAndDestroy();
      server.destroy();
    };
    client.on('data', (bytes: Buffer) => {
      doomed = this.fault !== 'pass' && this.statement.test(statementIn(bytes));
      if (doomed && this.fault === 'lose request') end();
      else server.write(bytes);
    });
    server.on('data', (bytes: Buffer) => {
      if (doomed) end();
      else client.write(bytes);
    });
  }
}

function statementIn(bytes: Buffer): string {
  return bytes[HEADER_BYTES] === COM_QUERY ? bytes.toString('utf8', HEADER_BYTES + 1) : '';
}
