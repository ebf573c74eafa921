import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { Problem } from '../problems/problem.js';

/** Replaces the answers that Node sends by itself, in a shape of its own or by disconnecting. */
export function replaceNodeAnswers(fastify: FastifyInstance): void {
  requireHostHeader(fastify);
  const { server } = fastify;
  // RFC 9110 section 10.1.1: an unknown expectation need not be refused.
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    server.emit('request', request, response);
  });
  // RFC 9110 section 9.3.6: CONNECT asks for a tunnel and names no path.
  server.on('connect', ({ socket }: IncomingMessage) => {
    socket.on('error', () => socket.destroy());
    server.emit('clientError', new Error('CONNECT'), socket);
  });
}

/** Requires one `Host`, which HTTP/1.0 may leave out (RFC 9112 section 3.2). */
function requireHostHeader(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', (request, _reply, done) => {
    const { headersDistinct, httpVersion } = request.raw;
    const hosts = headersDistinct['host']?.length ?? 0;
    const accepted = hosts === 1 || (hosts === 0 && httpVersion === '1.0');
    done(accepted ? undefined : new Problem('bad_request', { detail: 'Send one Host header.' }));
  });
}
