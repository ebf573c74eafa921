import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { requestEnded } from '../telemetry/metrics/measurements.js';
import { UnavailableError } from '../problems/problem.js';
import { type EndedExchange, Exchanges } from './exchanges.js';
import type { IdleConnections } from './idle-connections.js';
import type { RequestLog } from './request-log.js';
import { endRequestSpan } from './traced-requests.js';

/** maximum on one connection; then the client opens another, perhaps to another instance */
const MAX_REQUESTS = 1000;
/** maximum without an answer on one connection: those that a client sends ahead and does not read stay in memory */
const MAX_UNANSWERED = 20;

/** The client did not wait for the answer with `Connection: close`, after which it reads no other. */
class ConnectionSpentError extends UnavailableError {
  constructor() {
    super('The connection had its last answer; repeat the request on another.');
  }
}

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
      // Fastify's option for this leaves the connection open, and answers further requests in a shape of its own.
      if (isSpent || exchanges.count === MAX_REQUESTS) reply.header('Connection', 'close');
      return done(isSpent ? new ConnectionSpentError() : undefined);
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
    // Fastify builds the options anew at each access.
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

/** Undefined for a stream. Characters are as good as bytes for a bound. */
function lengthOf(payload: unknown): number | undefined {
  if (payload === null || payload === undefined) return 0;
  return typeof payload === 'string' || Buffer.isBuffer(payload) ? payload.length : undefined;
}
