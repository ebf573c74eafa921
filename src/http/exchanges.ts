import type { FastifyReply } from 'fastify';
import { clientAddress } from './client-address.js';

export interface EndedExchange {
  reply: FastifyReply;
  /** client's address, read when the request began, because a closed connection no longer has it */
  ip: string;
  /** whether the client disconnected before it had the whole answer */
  aborted: boolean;
}

/** The unanswered requests of one connection: several if the client pipelines (RFC 9112 section 9.3.2). */
export class Exchanges {
  begun = 0;
  private closed = false;
  private readonly open = new Map<FastifyReply, { ip: string; sent: boolean }>();
  private onAnswered: (() => void) | undefined;

  constructor(private readonly report: (exchange: EndedExchange) => void) {}

  begin(reply: FastifyReply): void {
    this.begun += 1;
    this.open.set(reply, { ip: clientAddress(reply.request), sent: false });
  }

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

  /** Ends answers that were being sent; the others end when they would have been sent. */
  close(): void {
    this.closed = true;
    this.onAnswered = undefined;
    for (const [reply, { sent }] of this.open) if (sent || reply.raw.headersSent) this.end(reply, true);
  }

  /** The last request, while its body has not arrived and it has no answer. */
  get arriving(): FastifyReply | undefined {
    const [reply, exchange] = [...this.open].at(-1) ?? [];
    return exchange?.sent || reply?.request.raw.complete ? undefined : reply;
  }

  get unanswered(): number {
    return this.open.size;
  }

  get isIdle(): boolean {
    return this.open.size === 0;
  }

  /** Calls back at once if nothing is open, and never if the client disconnects first. */
  whenAnswered(then: () => void): void {
    if (this.open.size === 0) then();
    else this.onAnswered = then;
  }
}
