import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { Exchanges } from './exchanges.js';
import type { RequestLog } from './request-log.js';

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

  on(socket: Socket): Exchanges {
    const known = this.exchanges.get(socket);
    if (known) return known;
    const exchanges = new Exchanges((exchange) => this.log.write(exchange));
    this.exchanges.set(socket, exchanges);
    socket.once('close', () => exchanges.close());
    return exchanges;
  }
}
