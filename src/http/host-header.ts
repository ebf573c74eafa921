import type { FastifyInstance } from 'fastify';
import { Problem } from '../problems/problem.js';

/**
 * A request of HTTP/1.1 without `Host` is refused (RFC 9112 section 3.2) by us and not by Node, which would
 * answer in a shape of its own.
 */
export function requireHostHeader(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', (request, _reply, done) => {
    const { headers, httpVersion } = request.raw;
    const missing = httpVersion === '1.1' && headers.host === undefined;
    done(missing ? new Problem('bad_request', 'The Host header is missing.') : undefined);
  });
}
