import { connect, createServer, type Server, type Socket } from 'node:net';
import { freePort } from '../../../tooling/servers/free-port.js';

/**
 * - `pass`: bytes go both ways.
 * - `refuse`: nobody listens; present connections are reset.
 * - `drop`: connects succeed, no byte arrives anywhere, nothing is closed: a network that lost its packets.
 * - `ignore`: logins succeed, statements go nowhere: a server that has hung.
 * - `delay`: every chunk is late by `delayMs`, in each direction.
 */
type ProxyMode = 'pass' | 'refuse' | 'drop' | 'ignore' | 'delay';

/** The fourth byte of a packet is its number, which begins anew with each statement and goes on in a login. */
const PACKET_NUMBER_AT = 3;

/** A TCP proxy on 127.0.0.1 whose faults are switched while connections are open. */
export class FaultProxy {
  private readonly sockets = new Set<Socket>();
  private listener: Server | undefined;
  private current: ProxyMode = 'pass';
  private delayMs = 0;
  /** Bytes that came from clients, in any mode. */
  bytes = 0;

  private constructor(
    readonly port: number,
    private readonly targetPort: number,
  ) {}

  static async start(targetPort: number): Promise<FaultProxy> {
    const proxy = new FaultProxy(await freePort(), targetPort);
    await proxy.listen();
    return proxy;
  }

  /** Bytes held back by `drop` are not lost: they arrive now, as TCP would have sent them again. */
  async pass(): Promise<void> {
    await this.switchTo('pass');
  }

  async refuse(): Promise<void> {
    this.current = 'refuse';
    const listener = this.listener;
    this.listener = undefined;
    const closed = new Promise<void>((resolve) => {
      if (listener) listener.close(() => resolve());
      else resolve();
    });
    this.cut();
    await closed;
  }

  async drop(): Promise<void> {
    await this.switchTo('drop');
  }

  /** Clients lose their connections, and meet the fault in new ones. */
  async ignore(): Promise<void> {
    await this.switchTo('ignore');
    this.cut();
  }

  async delay(ms: number): Promise<void> {
    this.delayMs = ms;
    await this.switchTo('delay');
  }

  cut(): void {
    for (const socket of this.sockets) socket.resetAndDestroy();
  }

  async close(): Promise<void> {
    await this.refuse();
  }

  private async switchTo(mode: ProxyMode): Promise<void> {
    this.current = mode;
    for (const socket of this.sockets) {
      if (mode === 'drop') socket.pause();
      else socket.resume();
    }
    await this.listen();
  }

  private async listen(): Promise<void> {
    if (this.listener) return;
    const listener = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) =>
      this.accept(client),
    );
    this.listener = listener;
    await new Promise<void>((resolve, reject) => {
      listener.once('error', reject);
      listener.listen(this.port, '127.0.0.1', resolve);
    });
  }

  private accept(client: Socket): void {
    const server = connect({ port: this.targetPort, host: '127.0.0.1', allowHalfOpen: true });
    client.on('data', (chunk) => (this.bytes += chunk.length));
    this.join(client, server, (chunk) => this.current !== 'ignore' || chunk[PACKET_NUMBER_AT] !== 0);
    this.join(server, client);
    if (this.current === 'drop') server.pause();
    else client.resume();
  }

  private join(from: Socket, to: Socket, arrives = (_chunk: Buffer): boolean => true): void {
    this.sockets.add(from);
    from.setNoDelay(true);
    from.on('data', (chunk: Buffer) => {
      if (arrives(chunk)) this.forward(() => to.writable && to.write(chunk));
    });
    from.on('end', () => this.forward(() => to.end()));
    from.on('error', () => to.resetAndDestroy());
    from.on('close', () => {
      this.sockets.delete(from);
      this.forward(() => to.end());
    });
  }

  private forward(action: () => void): void {
    if (this.current === 'delay') setTimeout(action, this.delayMs).unref();
    else action();
  }
}
