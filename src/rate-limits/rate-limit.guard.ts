import { type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { ThrottlerGuard } from '@nestjs/throttler';
import { Env } from '../config/env.js';
import { clientAddress } from '../http/client-address.js';
import { canonicalEmail } from '../users/email-address.js';
import { secondsOf } from './rate-limit-headers.js';
import { countersOf, type NamedCounter, refusalOf, type Subject } from './rate-limit-rules.js';
import { type Quota, RATE_LIMIT_STORE, type RateLimitStore } from './rate-limit-store.js';
import { type LimitedRequest, RateLimiting, sendQuotas } from './rate-limiting.js';
import { RateLimitedError } from './rate-limits.errors.js';

/**
 * Admits a request of a handler marked `@RateLimited` under all of its limits in one step, or refuses it.
 *
 * Of ThrottlerGuard this keeps its place in the framework. Its `canActivate` is replaced whole, since it asks
 * one limit after the other, so that one counts what the next refuses, names headers after the throttler
 * (`Retry-After-login`), and applies every throttler to every route.
 */
@Injectable()
export class RateLimitGuard extends ThrottlerGuard {
  @Inject(Env) private readonly env: Env;
  @Inject(RATE_LIMIT_STORE) private readonly store: RateLimitStore;

  /** What the base class prepares here, and warns of where every limit is off, is not used. */
  override onModuleInit(): Promise<void> {
    return Promise.resolve();
  }

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const { limits } = this.reflector.get(RateLimiting, context.getHandler());
    const http = context.switchToHttp();
    const request = http.getRequest<LimitedRequest>();
    const counters = countersOf(this.env, limits, subjectOf(request));
    if (counters.length === 0) return true;

    const admission = await this.store.admit(counters);
    sendQuotas(http.getResponse(), counters, admission.quotas);
    if (!admission.admitted) throw refusal(counters, admission.quotas);
    request.counted = { counters, admission };
    return true;
  }
}

/** The body is as it came: guards run before validation, and this one after those of the whole application. */
function subjectOf(request: LimitedRequest): Subject {
  const { body } = request;
  const email = typeof body === 'object' && body !== null && 'email' in body ? body.email : undefined;
  return { address: clientAddress(request), email: canonicalEmail(email), userId: request.user?.id };
}

/** Tells of the limit that asks for the longest wait. */
function refusal(counters: readonly NamedCounter[], quotas: readonly Quota[]): RateLimitedError {
  const [longest] = counters
    .map(({ name }, i) => ({ name, ...quotas[i]! }))
    .filter(({ remaining }) => remaining === 0)
    .toSorted((a, b) => b.resetMs - a.resetMs);
  return new RateLimitedError(refusalOf(longest!.name), secondsOf(longest!.resetMs));
}
