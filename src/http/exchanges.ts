import type { FastifyReply } from 'fastify';
import { clientAddress } from './request-origin.js';

export interface EndedExchange {
  reply: FastifyReply;
  /** read when the request begins, because a closed connection no longer has it */
  ip: string;
  /** whether the client disconnected before it had the whole answer */
  aborted: boolean;
}

/** If more bytes wait for the client, the next request on its connection waits, too. */
const MAX_WAITING_BYTES = 256 * 1024;

interface Exchange {
  ip: string;
  begin?: () => void;
  begun: boolean;
  sent: boolean;
  bytes: number;
}

/** The unanswered requests of one connection: several if the client pipelines (RFC 9112 section 9.3.2). */
export class Exchanges {
  count = 0;
  private closed = false;
  private readonly open = new Map<FastifyReply, Exchange>();
  private onAnswered: (() => void) | undefined;

  constructor(private readonly report: (exchange: EndedExchange) => void) {}

  add(reply: FastifyReply): void {
    this.count += 1;
    const ip = clientAddress(reply.request);
    this.open.set(reply, { ip, begun: false, sent: false, bytes: 0 });
  }

  /**
   * Call it when the whole request is there. A request begins when the answer before it has been made, because an answer
   * stays in memory until the client has read those before it.
   */
  arrive(reply: FastifyReply, begin: () => void): void {
    const exchange = this.open.get(reply);
    if (!exchange) return begin();
    exchange.begin = begin;
    return this.beginNext();
  }

  /** @param bytes length of the answer; unknown for a stream */
  send(reply: FastifyReply, bytes = MAX_WAITING_BYTES): void {
    const exchange = this.open.get(reply);
    if (exchange) Object.assign(exchange, { sent: true, bytes });
    if (this.closed) this.end(reply, true);
    else this.beginNext();
  }

  end(reply: FastifyReply, aborted = false): void {
    const exchange = this.open.get(reply);
    if (!exchange) return;
    this.open.delete(reply);
    this.report({ reply, ip: exchange.ip, aborted });
    if (this.open.size === 0) this.onAnswered?.();
    this.beginNext();
  }

  /** Ends answers that are being sent. The others end when they would have been sent. */
  close(): void {
    this.closed = true;
    this.onAnswered = undefined;
    for (const [reply, { sent }] of this.open) if (sent || reply.raw.headersSent) this.end(reply, true);
  }

  /** the last request, if its body has not arrived and it has no answer */
  get arriving(): FastifyReply | undefined {
    const [reply, exchange] = [...this.open].at(-1) ?? [];
    return exchange?.sent || reply?.request.raw.complete ? undefined : reply;
  }

  get unanswered(): number {
    return this.open.size;
  }

  /** An incomplete request does not make a connection busy, because the client may never send the rest. */
  get isIdle(): boolean {
    for (const { begin } of this.open.values()) if (begin) return false;
    return true;
  }

  /** Never calls back if the client disconnects first. */
  whenAnswered(then: () => void): void {
    if (this.open.size === 0) then();
    else this.onAnswered = then;
  }

  private beginNext(): void {
    let waiting = 0;
    for (const exchange of this.open.values()) {
      if (exchange.sent) waiting += exchange.bytes;
      else {
        if (exchange.begun || !exchange.begin || waiting >= MAX_WAITING_BYTES) return;
        exchange.begun = true;
        return exchange.begin();
      }
    }
  }
}
