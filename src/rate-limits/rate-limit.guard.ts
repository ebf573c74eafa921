import { type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ThrottlerGuard } from '@nestjs/throttler';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Env } from '../config/env.js';
import { rateLimitHeaders, secondsOf } from './rate-limit-headers.js';
import { countersOf, type NamedCounter, type RateLimitName, refusalOf } from './rate-limit-rules.js';
import { type Quota, RATE_LIMIT_STORE, type RateLimitStore } from './rate-limit-store.js';
import { RateLimitedError } from './rate-limits.errors.js';

export const LimitedBy = Reflector.createDecorator<readonly RateLimitName[]>();

/**
 * Runs after the guards of the application, and before validation. `canActivate` of ThrottlerGuard is
 * replaced: it asks one limit after the other, so that one counts what the next refuses, names headers after
 * the throttler (`Retry-After-login`), and applies every throttler to every route.
 */
@Injectable()
export class RateLimitGuard extends ThrottlerGuard {
  @Inject(Env) private readonly env: Env;
  @Inject(RATE_LIMIT_STORE) private readonly store: RateLimitStore;

  /** The base class prepares what is not used here, and warns when every limit is off. */
  override onModuleInit(): Promise<void> {
    return Promise.resolve();
  }

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const counters = countersOf(this.env, this.reflector.get(LimitedBy, context.getHandler()), request);
    if (counters.length === 0) return true;

    const admission = await this.store.admit(counters);
    http.getResponse<FastifyReply>().headers(rateLimitHeaders(counters, admission.quotas));
    if (!admission.admitted) throw refusal(counters, admission.quotas);
    request.admission = { ...admission, counters };
    return true;
  }
}

/** Reports the limit with the longest wait. */
function refusal(counters: readonly NamedCounter[], quotas: readonly Quota[]): RateLimitedError {
  const [longest] = counters
    .map(({ name }, i) => ({ name, ...quotas[i]! }))
    .filter(({ remaining }) => remaining === 0)
    .toSorted((a, b) => b.resetMs - a.resetMs);
  return new RateLimitedError(refusalOf(longest!.name), secondsOf(longest!.resetMs));
}
