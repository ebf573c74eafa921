import { METHODS } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { Problem } from '../problems/problem.js';

class MethodNotAllowedError extends Problem {
  constructor(allow: string) {
    super('method_not_allowed', { detail: `Allowed methods: ${allow}`, headers: { Allow: allow } });
  }
}

/** CONNECT names no path. */
const PATH_METHODS = METHODS.filter((method) => method !== 'CONNECT');
const BUILT_IN_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'OPTIONS']);

/** Answers 405 with `Allow` (RFC 9110 section 15.5.6), not 404. Call the result once all routes exist. */
export function collectAllowedMethods(fastify: FastifyInstance): () => void {
  for (const method of PATH_METHODS.filter((name) => !BUILT_IN_METHODS.has(name))) {
    fastify.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  }
  const known = new Map<string, Set<string>>();
  fastify.addHook('onRoute', ({ url, method }) => {
    const methods = known.get(url) ?? new Set();
    for (const name of [method].flat()) methods.add(name);
    known.set(url, methods);
  });

  return () => {
    for (const [url, allowed] of [...known].filter(([path]) => !path.includes('*'))) {
      const allow = [...allowed].join(', ');
      fastify.route({
        url,
        method: PATH_METHODS.filter((method) => !allowed.has(method)),
        exposeHeadRoute: false,
        // Answer before the body is read: whatever it is, the method is not allowed.
        onRequest: (_request, _reply, done) => done(new MethodNotAllowedError(allow)),
        handler: () => undefined,
      });
    }
  };
}
