import type { FastifyInstance } from 'fastify';

/** OWASP REST Security Cheat Sheet, "Security headers". */
export const SECURITY_HEADERS = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
} as const;

const ENTRIES = Object.entries(SECURITY_HEADERS);

/** Headers that a route has set take precedence. */
export function sendSecurityHeaders(fastify: FastifyInstance): void {
  fastify.addHook('onSend', (request, reply, _payload, done) => {
    for (const [name, value] of ENTRIES) {
      if (!reply.hasHeader(name)) reply.header(name, value);
    }
    reply.header('X-Request-Id', request.id);
    done();
  });
}
