import type { NestFastifyApplication } from '@nestjs/platform-fastify';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
const REQUEST_HEADERS = [
  'Authorization',
  'Content-Type',
  'X-Request-Id',
  'traceparent',
  'If-Match',
  'Idempotency-Key',
];
const EXPOSED_HEADERS = [
  'Link',
  'ETag',
  'Dry-Run',
  'Idempotency-Replayed',
  'Retry-After',
  'RateLimit',
  'RateLimit-Policy',
  'WWW-Authenticate',
  'X-Request-Id',
];
const PREFLIGHT_SECONDS = 600;

/** Allows calls from the web views of desktop clients. No cookies are used, so credentials stay off. */
export function allowOrigins(app: NestFastifyApplication, origins: string[]): void {
  if (origins.length === 0) return;
  app.enableCors({
    origin: origins,
    methods: METHODS,
    allowedHeaders: REQUEST_HEADERS,
    exposedHeaders: EXPOSED_HEADERS,
    maxAge: PREFLIGHT_SECONDS,
    strictPreflight: false,
  });
}
