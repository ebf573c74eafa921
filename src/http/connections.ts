import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from '@nestjs/common';
import type { Logger as PinoLogger } from 'pino';
import type { FastifyInstance } from 'fastify';
import type { Env } from '../config/env.js';
import { requestEnded } from '../telemetry/metrics/measurements.js';
import { UnavailableError } from '../problems/problem.js';
import { type EndedExchange, Exchanges } from './exchanges.js';
import { endRequestSpan, type RequestLog } from './request-log.js';

/** files kept for the database, keys, logs, listeners, Redis, emails and traces */
const RESERVED = 64;
const MIN_CONNECTIONS = 16;
const MAX_CONNECTIONS = 10_000;

export function maxConnections({ database, databasePoolSize }: Env): number {
  const pool = database.engine === 'mysql' ? databasePoolSize : 0;
  const files = openFilesLimit() ?? Number.POSITIVE_INFINITY;
  return Math.min(Math.max(files - RESERVED - pool, MIN_CONNECTIONS), MAX_CONNECTIONS);
}

/** Node raises the soft limit to the hard one when it starts. Undefined means no limit, or Windows. */
function openFilesLimit(): number | undefined {
  const { userLimits } = process.report.getReport() as {
    userLimits?: { open_files: { soft: number | 'unlimited' } };
  };
  const limit = userLimits?.open_files.soft;
  return typeof limit === 'number' ? limit : undefined;
}

const STALL_TIMEOUT_MS = 15_000;
const CHECK_MS = 1000;

/** Disconnects a client that stops reading. The socket's own timeout spares clients that still send. */
export function disconnectWhenStalled(response: ServerResponse, logger: Logger): void {
  const { socket } = response.req;
  let taken = takenBy(socket);
  let since = performance.now();

  const timer = setInterval(() => {
    if (response.writableFinished || socket.destroyed) return clearInterval(timer);
    const before = taken;
    taken = takenBy(socket);
    if (taken !== before || socket.writableLength === 0) since = performance.now();
    if (performance.now() - since < STALL_TIMEOUT_MS) return;
    clearInterval(timer);
    logger.warn('connection closed: the client read nothing of its answer for 15 seconds');
    socket.destroy();
  }, CHECK_MS);
  timer.unref();
}

/** @returns the bytes that the operating system accepted, which only Node's handle knows during a write */
function takenBy(socket: Socket): number {
  const handle: unknown = Reflect.get(socket, '_handle');
  return isHandle(handle) ? handle.bytesWritten - handle.writeQueueSize : 0;
}

function isHandle(handle: unknown): handle is { bytesWritten: number; writeQueueSize: number } {
  return (
    typeof handle === 'object' && handle !== null && 'bytesWritten' in handle && 'writeQueueSize' in handle
  );
}

const LOG_INTERVAL_MS = 60_000;

// At the limit, a new connection replaces the one that is idle for longest. Otherwise a client that opens connections
// and sends nothing, or half a request, would lock out all others.
export class IdleConnections {
  private readonly open = new Set<Socket>();
  private readonly idle = new Set<Socket>();
  private loggedAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly log: PinoLogger) {}

  limit(server: Server, max: number): void {
    server.maxConnections = max;
    // Otherwise full processes would hand a connection to each other in circles.
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

/** Then the client opens another connection, perhaps to another instance. */
const MAX_REQUESTS = 1000;
/** Answers that a client does not read stay in memory. */
const MAX_UNANSWERED = 20;

const CONNECTION_SPENT = 'The connection had its last answer; repeat the request on another.';

export class Connections {
  private readonly exchanges = new WeakMap<Socket, Exchanges>();

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
      if (isSpent || exchanges.count === MAX_REQUESTS) reply.header('Connection', 'close');
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
    const route = request.routeOptions.url;
    this.log.write(exchange, route);
    endRequestSpan(exchange, route);
    if (!requestEnded.isHeard) return;
    const { method, problem } = request;
    requestEnded.emit({ method, route, status, code: problem?.code, seconds: elapsedTime / 1000 });
  }

  on(socket: Socket): Exchanges {
    const known = this.exchanges.get(socket);
    if (known) return known;
    const exchanges = new Exchanges((exchange) => this.report(exchange));
    this.exchanges.set(socket, exchanges);
    socket.once('close', () => exchanges.close());
    return exchanges;
  }
}

/** @returns characters, which are good enough for a bound; undefined for a stream */
function lengthOf(payload: unknown): number | undefined {
  if (payload === null || payload === undefined) return 0;
  return typeof payload === 'string' || Buffer.isBuffer(payload) ? payload.length : undefined;
}
