import type { FastifyInstance, HTTPMethods } from 'fastify';
import { Problem } from '../problems/problem.js';

class MethodNotAllowedError extends Problem {
  constructor(allow: string) {
    super('method_not_allowed', `This path knows ${allow}.`, { headers: { Allow: allow } });
  }
}

const METHODS: HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'OPTIONS'];

/**
 * Answers 405 with `Allow` (RFC 9110 section 15.5.6) where a path is known but the method is not; the
 * router by itself says 404. Routes are collected while they are registered and completed by the function
 * returned, once all are known.
 */
export function collectAllowedMethods(fastify: FastifyInstance): () => void {
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
        method: METHODS.filter((method) => !allowed.has(method)),
        exposeHeadRoute: false,
        handler: () => {
          throw new MethodNotAllowedError(allow);
        },
      });
    }
  };
}
