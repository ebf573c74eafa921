import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { requestEnded } from '../metrics/measurements.js';
import { type EndedExchange, Exchanges } from './exchanges.js';
import type { RequestLog } from './request-log.js';
import { endRequestSpan } from './traced-requests.js';

export class Connections {
  private readonly exchanges = new WeakMap<Socket, Exchanges>();

  constructor(private readonly log: RequestLog) {}

  follow(fastify: FastifyInstance): void {
    fastify.addHook('onRequest', (request, reply, done) => {
      this.on(request.raw.socket).begin(reply);
      done();
    });
    fastify.addHook('onSend', (request, reply, _payload, done) => {
      this.on(request.raw.socket).send(reply);
      done();
    });
    fastify.addHook('onResponse', (request, reply, done) => {
      this.on(request.raw.socket).end(reply);
      done();
    });
  }

  /** What every request ends with. */
  report(exchange: EndedExchange): void {
    const { request, statusCode: status, elapsedTime } = exchange.reply;
    // Fastify makes the options anew each time that they are asked for.
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
