import type { Span } from '@opentelemetry/api';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { parseTraceparent, runInSpan, spanFactory } from '../telemetry/tracing/spans.js';
import { isEntityId } from '../identifiers/entity-id.js';
import { rootCause } from '../telemetry/logging/logger.js';
import { type Problem, ValidationProblem } from '../problems/problem.js';
import { FEED_PATH, loggedPath } from './paths.js';

declare module 'fastify' {
  interface FastifyRequest {
    span?: Span;
    problem?: Problem;
  }
}

export interface EndedExchange {
  reply: FastifyReply;
  ip: string;
  aborted: boolean;
}

export function traceRequests(fastify: FastifyInstance): void {
  const spans = spanFactory();
  if (!spans) return;
  fastify.decorateRequest('span', undefined);
  fastify.addHook('onRequest', (request, _reply, done) => {
    request.span = spans.request(request.method, parseTraceparent(request.headers.traceparent));
    done();
  });
  fastify.addHook('preHandler', ({ span }, _reply, done) => {
    if (span) runInSpan(span, done);
    else done();
  });
}

/** Omits an unknown path, because it can contain anything. */
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

/** Services poll the feed without a pause, and monitoring probes. What the feed refuses stays visible. */
function isRoutine(route: string | undefined, status: number): boolean {
  return route?.startsWith('/health/') === true || (route === FEED_PATH && status < 400);
}

/** Logs the pattern of the route, because paths and queries can contain secrets. */
export class RequestLog {
  constructor(private readonly log: Logger) {}

  write({ reply, ip, aborted }: EndedExchange, route: string | undefined): void {
    const { request } = reply;
    const level = isRoutine(route, reply.statusCode) ? 'debug' : 'info';
    if (!this.log.isLevelEnabled(level)) return;
    const { orgId, userId } = (request.params ?? {}) as { orgId?: string; userId?: string };
    this.log[level]({
      msg: 'request',
      requestId: request.id,
      traceId: request.span?.spanContext().traceId ?? parseTraceparent(request.headers.traceparent)?.traceId,
      method: request.method,
      route,
      orgId: isEntityId(orgId) ? orgId : undefined,
      memberId: isEntityId(userId) ? userId : undefined,
      status: reply.statusCode,
      ...(request.problem && failure(request, request.problem)),
      aborted: aborted || undefined,
      dryRun: reply.hasHeader('Dry-Run') || undefined,
      replayed: reply.hasHeader('Idempotency-Replayed') || undefined,
      ...callerOf(request),
      ip,
      ms: Math.round(reply.elapsedTime * 10) / 10,
    });
  }

  writeUnreadable(problem: Problem, requestId: string, ip: string): void {
    this.log.info({ msg: 'request', requestId, status: problem.status, code: problem.code, ip });
  }
}

function callerOf(request: FastifyRequest): object {
  const { principal, signedInUserId, calledService, problem } = request;
  if (principal?.kind === 'service') {
    const call = calledService !== undefined && { audience: calledService, userId: signedInUserId };
    return { service: principal.name, ...call };
  }
  const userId = principal?.id ?? signedInUserId ?? problem?.options.userId;
  return userId === undefined ? {} : { userId };
}

function failure({ url }: FastifyRequest, problem: Problem): Record<string, unknown> {
  const { code, status, cause, detail } = problem;
  if (problem instanceof ValidationProblem) return { code, fields: problem.fields };
  if (status === 404) return { code, path: loggedPath(url) };
  if (status === 503) return { code, cause: cause === undefined ? detail : rootCause(cause) };
  const { reason, limit } = problem.options;
  return { code, reason, limit };
}
