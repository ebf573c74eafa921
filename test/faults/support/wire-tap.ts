import { connect, createServer, type Server, type Socket } from 'node:net';
import { freePort } from '../../../tooling/servers/free-port.js';

/** A TCP proxy on 127.0.0.1 that keeps what passes, in both directions, as somebody on the network would. */
export class WireTap {
  private readonly heard: Buffer[] = [];
  private readonly sockets = new Set<Socket>();
  /** Resets a connection as soon as its client says something. */
  resets = false;

  private constructor(
    readonly port: number,
    private readonly targetPort: number,
    private readonly server: Server,
  ) {}

  static async start(targetPort: number): Promise<WireTap> {
    const server = createServer();
    const tap = new WireTap(await freePort(), targetPort, server);
    server.on('connection', (client) => tap.join(client));
    await new Promise<void>((listening) => server.listen(tap.port, '127.0.0.1', listening));
    return tap;
  }

  /** Whether the text passed as it is. */
  hears(text: string): boolean {
    return Buffer.concat(this.heard).includes(text);
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((closed) => this.server.close(closed));
  }

  private join(client: Socket): void {
    const target = connect(this.targetPort, '127.0.0.1');
    const ways: [Socket, Socket][] = [
      [client, target],
      [target, client],
    ];
    for (const [from, to] of ways) {
      this.sockets.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        this.sockets.delete(from);
        to.destroy();
      });
      from.on('data', (chunk) => {
        if (this.resets && from === client) client.resetAndDestroy();
        this.heard.push(Buffer.from(chunk));
        to.write(chunk);
      });
    }
  }
}
