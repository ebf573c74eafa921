import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger as PinoLogger } from 'pino';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Env } from '../config/env.js';
import { requestEnded } from '../telemetry/metrics/measurements.js';
import { UnavailableError } from '../problems/problem.js';
import { type EndedExchange, endRequestSpan, type RequestLog } from './request-log.js';
import { clientAddress } from './request-origin.js';
import { UnreadAnswers } from './unread-answers.js';

const RESERVED_FILES = 64;
const MIN_CONNECTIONS = 16;
const MAX_CONNECTIONS = 10_000;

export function maxConnections({ database, databasePoolSize }: Env): number {
  // When Node starts, it raises the soft limit to the hard limit. Windows has no limit.
  const { userLimits } = process.report.getReport() as {
    userLimits?: { open_files: { soft: number | 'unlimited' } };
  };
  const limit = userLimits?.open_files.soft;
  const files = typeof limit === 'number' ? limit : Number.POSITIVE_INFINITY;
  const pool = database.engine === 'mysql' ? databasePoolSize : 0;
  return Math.min(Math.max(files - RESERVED_FILES - pool, MIN_CONNECTIONS), MAX_CONNECTIONS);
}

const LOG_INTERVAL_MS = 60_000;

/** At the limit, a new connection replaces the longest idle one, so that silent clients do not lock out others. */
export class IdleConnections {
  private readonly open = new Set<Socket>();
  private readonly idle = new Set<Socket>();
  private loggedAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly log: PinoLogger) {}

  limit(server: Server, max: number): void {
    server.maxConnections = max;
    // Without this, full processes would pass a connection to each other endlessly.
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
    this.idle.delete(socket);
    if (this.open.has(socket)) this.idle.add(socket);
  }

  /** Node 24 treats a connection that has received nothing as busy. */
  closeSilent(): void {
    for (const socket of this.open) if (socket.bytesRead === 0) socket.destroy();
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

/** If more bytes wait for the client, the next request on its connection waits as well. */
const MAX_WAITING_BYTES = 256 * 1024;

interface PipelinedRequest {
  ip: string;
  begin?: () => void;
  begun: boolean;
  sent: boolean;
  bytes: number;
}

/** The unanswered requests of one connection, on which a client may pipeline several (RFC 9112 section 9.3.2). */
export class Exchanges {
  count = 0;
  private closed = false;
  private readonly open = new Map<FastifyReply, PipelinedRequest>();
  private onAnswered: (() => void) | undefined;

  constructor(
    private readonly report: (exchange: EndedExchange) => void,
    private readonly unread: UnreadAnswers,
  ) {}

  add(reply: FastifyReply): void {
    this.count += 1;
    const ip = clientAddress(reply.request);
    this.open.set(reply, { ip, begun: false, sent: false, bytes: 0 });
  }

  /**
   * Call it when the request is complete. It begins after the previous answer, because unread answers stay in memory.
   * A request that its route passes to the handler of unknown paths (`callNotFound`) arrives twice.
   */
  arrive(reply: FastifyReply, begin: () => void): void {
    const exchange = this.open.get(reply);
    if (!exchange || exchange.begun) return begin();
    exchange.begin = begin;
    return this.beginNext();
  }

  send(reply: FastifyReply, bytes = MAX_WAITING_BYTES): void {
    const exchange = this.open.get(reply);
    if (exchange && !exchange.sent) {
      Object.assign(exchange, { sent: true, bytes });
      this.unread.add(reply.request.raw.socket, exchange.ip, bytes);
    }
    if (this.closed) this.end(reply, true);
    else this.beginNext();
  }

  end(reply: FastifyReply, aborted = false): void {
    const exchange = this.open.get(reply);
    if (!exchange) return;
    this.open.delete(reply);
    if (exchange.sent) this.unread.remove(reply.request.raw.socket, exchange.bytes);
    this.report({ reply, ip: exchange.ip, aborted });
    if (this.open.size === 0) this.onAnswered?.();
    this.beginNext();
  }

  /** Ends answers that are being sent. Other requests end when their answer is ready. */
  close(): void {
    this.closed = true;
    this.onAnswered = undefined;
    for (const [reply, { sent }] of this.open) if (sent || reply.raw.headersSent) this.end(reply, true);
  }

  get arriving(): FastifyReply | undefined {
    const [reply, exchange] = [...this.open].at(-1) ?? [];
    return exchange?.sent || reply?.request.raw.complete ? undefined : reply;
  }

  get unanswered(): number {
    return this.open.size;
  }

  /** A connection with an incomplete request is idle, because the client may never send the rest. */
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

/** A limit makes clients connect to other instances from time to time. */
const MAX_REQUESTS = 1000;
const MAX_UNANSWERED = 20;

const CONNECTION_SPENT = 'The connection had its last answer; repeat the request on another.';

export class Connections {
  private readonly exchanges = new WeakMap<Socket, Exchanges>();
  private readonly unread = new UnreadAnswers();
  /** Makes each answer the last one of its connection. */
  isClosing = false;

  constructor(
    private readonly log: RequestLog,
    private readonly idle: IdleConnections,
  ) {}

  follow(fastify: FastifyInstance): void {
    fastify.addHook('onRequest', (request, reply, done) => {
      const exchanges = this.on(request.raw.socket);
      exchanges.add(reply);
      const isSpent = exchanges.count > MAX_REQUESTS || exchanges.unanswered > MAX_UNANSWERED;
      // Fastify's own option leaves the connection open and answers further requests in another format.
      if (isSpent || this.isClosing || exchanges.count === MAX_REQUESTS) reply.header('Connection', 'close');
      return done(isSpent ? new UnavailableError(CONNECTION_SPENT) : undefined);
    });
    fastify.addHook('preHandler', (request, reply, done) => {
      this.idle.begin(request.raw.socket);
      this.on(request.raw.socket).arrive(reply, done);
    });
    fastify.addHook('onSend', (request, reply, payload, done) => {
      this.on(request.raw.socket).send(reply, lengthOf(payload));
      done();
    });
    fastify.addHook('onResponse', (request, reply, done) => {
      const exchanges = this.on(request.raw.socket);
      exchanges.end(reply);
      if (exchanges.isIdle) this.idle.end(request.raw.socket);
      done();
    });
  }

  report(exchange: EndedExchange): void {
    const { request, statusCode: status, elapsedTime } = exchange.reply;
    const route = request.routeOptions.url ?? request.knownPath;
    this.log.write(exchange, route);
    endRequestSpan(exchange, route);
    if (!requestEnded.isHeard) return;
    const { method, problem } = request;
    requestEnded.emit({ method, route, status, code: problem?.code, seconds: elapsedTime / 1000 });
  }

  on(socket: Socket): Exchanges {
    const known = this.exchanges.get(socket);
    if (known) return known;
    const exchanges = new Exchanges((exchange) => this.report(exchange), this.unread);
    this.exchanges.set(socket, exchanges);
    socket.once('close', () => exchanges.close());
    return exchanges;
  }
}

function lengthOf(payload: unknown): number | undefined {
  if (payload === null || payload === undefined) return 0;
  return typeof payload === 'string' || Buffer.isBuffer(payload) ? payload.length : undefined;
}
