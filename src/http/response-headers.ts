import type { FastifyInstance } from 'fastify';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';

/** OWASP REST Security Cheat Sheet, "Security headers". */
export const SECURITY_HEADERS = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
} as const;
const HEADERS = Object.entries(SECURITY_HEADERS);

export function sendSecurityHeaders(fastify: FastifyInstance): void {
  fastify.addHook('onSend', (request, reply, _payload, done) => {
    for (const [name, value] of HEADERS) if (!reply.hasHeader(name)) reply.header(name, value);
    reply.header('X-Request-Id', request.id);
    done();
  });
}

const REQUEST_HEADERS = 'Authorization, Content-Type, X-Request-Id, traceparent, If-Match, Idempotency-Key';
const EXPOSED_HEADERS =
  'Link, ETag, Dry-Run, Idempotency-Replayed, Retry-After, RateLimit, RateLimit-Policy, WWW-Authenticate, X-Request-Id';
const PREFLIGHT_SECONDS = 600;

export function allowOrigins(app: NestFastifyApplication, origins: string[]): void {
  if (origins.length === 0) return;
  app.enableCors({
    origin: origins,
    methods: 'GET, HEAD, POST, PUT, PATCH, DELETE',
    allowedHeaders: REQUEST_HEADERS,
    exposedHeaders: EXPOSED_HEADERS,
    maxAge: PREFLIGHT_SECONDS,
    strictPreflight: false,
  });
}
