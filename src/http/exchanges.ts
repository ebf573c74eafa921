import type { FastifyReply } from 'fastify';
import { clientAddress } from './client-address.js';

export interface EndedExchange {
  reply: FastifyReply;
  /** of the client; read when the request began, since a closed connection no longer tells */
  ip: string;
  /** the client left before it had the whole answer */
  aborted: boolean;
}

/**
 * The requests of one connection that have no whole answer yet. There can be several: a client may send the
 * next one before it has the answer to the last (RFC 9112 section 9.3.2).
 */
export class Exchanges {
  private closed = false;
  private readonly open = new Map<FastifyReply, { ip: string; sent: boolean }>();
  private onAnswered: (() => void) | undefined;

  constructor(private readonly report: (exchange: EndedExchange) => void) {}

  begin(reply: FastifyReply): void {
    this.open.set(reply, { ip: clientAddress(reply.request), sent: false });
  }

  /** The outcome is known; where the client has left, that is the end. */
  send(reply: FastifyReply): void {
    const exchange = this.open.get(reply);
    if (exchange) exchange.sent = true;
    if (this.closed) this.end(reply, true);
  }

  end(reply: FastifyReply, aborted = false): void {
    const exchange = this.open.get(reply);
    if (!exchange) return;
    this.open.delete(reply);
    this.report({ reply, ip: exchange.ip, aborted });
    if (this.open.size === 0) this.onAnswered?.();
  }

  /** Ends what was being sent. What is still being worked on ends when it would have been sent. */
  close(): void {
    this.closed = true;
    this.onAnswered = undefined;
    for (const [reply, { sent }] of this.open) if (sent || reply.raw.headersSent) this.end(reply, true);
  }

  /** The request whose body has not arrived whole, always the last one, while it has no answer. */
  get arriving(): FastifyReply | undefined {
    const [reply, exchange] = [...this.open].at(-1) ?? [];
    return exchange?.sent || reply?.request.raw.complete ? undefined : reply;
  }

  /** At once where nothing is open; never, where the client leaves before. */
  whenAnswered(then: () => void): void {
    if (this.open.size === 0) then();
    else this.onAnswered = then;
  }
}
