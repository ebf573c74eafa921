import type { Span } from '@opentelemetry/api';
import type { FastifyInstance } from 'fastify';
import { parseTraceparent, runInSpan, spanFactory } from '../telemetry/tracing/spans.js';
import type { EndedExchange } from './exchanges.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** undefined if tracing is off */
    span?: Span;
  }
}

/** Begins a span for each request; its queries become part of it. */
export function traceRequests(fastify: FastifyInstance): void {
  const spans = spanFactory();
  if (!spans) return;
  fastify.decorateRequest('span', undefined);
  fastify.addHook('onRequest', (request, _reply, done) => {
    request.span = spans.request(request.method, parseTraceparent(request.headers.traceparent));
    done();
  });
  // Enter the span no earlier: reading a body leaves the context of the hooks before it.
  fastify.addHook('preHandler', ({ span }, _reply, done) => {
    if (span) runInSpan(span, done);
    else done();
  });
}

/** Marks only failures of the service as errors. An unknown path is not recorded, because it can hold anything. */
export function endRequestSpan({ reply }: EndedExchange, route: string | undefined): void {
  const { span, method, problem } = reply.request;
  if (!span) return;
  if (route !== undefined) {
    span.updateName(`${method} ${route}`);
    span.setAttribute('http.route', route);
  }
  span.setAttribute('http.response.status_code', reply.statusCode);
  if (reply.statusCode >= 500) spanFactory()?.fail(span, problem?.cause ?? problem);
  else span.end();
}
