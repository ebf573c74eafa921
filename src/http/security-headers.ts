import type { FastifyInstance } from 'fastify';

/** OWASP REST Security Cheat Sheet, "Security headers". */
export const SECURITY_HEADERS = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
} as const;

/** Every answer carries them; a route may set its own value afterwards. */
export function sendSecurityHeaders(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    reply.headers(SECURITY_HEADERS).header('X-Request-Id', request.id);
    done();
  });
}
