import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { rateLimitHeaders } from './rate-limit-headers.js';
import type { NamedCounter, RateLimitName } from './rate-limit-rules.js';
import type { Admission, Quota } from './rate-limit-store.js';

/** What `@RateLimited` says of a handler. */
export interface RateLimitingOptions {
  limits: readonly RateLimitName[];
  /** Whether a request that ended so stays counted. @param error undefined when it succeeded */
  isCounted(error: unknown): boolean;
}

export const RateLimiting = Reflector.createDecorator<RateLimitingOptions>();

/** A request that its limits admitted, on the way from the guard to the interceptor. */
export interface LimitedRequest extends FastifyRequest {
  counted?: { counters: readonly NamedCounter[]; admission: Admission };
}

export function sendQuotas(
  reply: FastifyReply,
  counters: readonly NamedCounter[],
  quotas: readonly Quota[],
): void {
  void reply.headers(rateLimitHeaders(counters, quotas));
}
