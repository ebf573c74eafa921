import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from 'pino';

const LOG_INTERVAL_MS = 60_000;

// Limits the open connections. At the limit, a new one replaces the one idle for longest: otherwise a client that opens
// connections and says nothing, or half a request, would keep all others out. Busy ones are never closed.
export class IdleConnections {
  private readonly open = new Set<Socket>();
  /** ordered by the time when they became idle */
  private readonly idle = new Set<Socket>();
  private loggedAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly log: Logger) {}

  limit(server: Server, max: number): void {
    server.maxConnections = max;
    // Otherwise a full process would hand a connection on to another one, in circles when all are full.
    Object.assign(server, { dropMaxConnection: true });
    server.on('connection', (socket: Socket) => {
      this.open.add(socket);
      if (this.open.size >= max) this.closeOldest(max);
      this.idle.add(socket);
      socket.once('close', () => this.forget(socket));
    });
    server.on('drop', () => this.warn('a new connection was refused: all are busy', max));
  }

  begin(socket: Socket): void {
    this.idle.delete(socket);
  }

  end(socket: Socket): void {
    // Last in the order, also if it was idle already.
    this.idle.delete(socket);
    if (this.open.has(socket)) this.idle.add(socket);
  }

  private closeOldest(max: number): void {
    const [oldest] = this.idle;
    if (!oldest) return;
    this.forget(oldest);
    oldest.destroy();
    this.warn('connections that have been idle for longest are closed: there are too many', max);
  }

  private forget(socket: Socket): void {
    this.open.delete(socket);
    this.idle.delete(socket);
  }

  private warn(msg: string, max: number): void {
    const now = performance.now();
    if (now - this.loggedAt < LOG_INTERVAL_MS) return;
    this.loggedAt = now;
    this.log.warn({ msg, max });
  }
}
