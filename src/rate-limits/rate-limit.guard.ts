import { Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ThrottlerGuard, type ThrottlerRequest } from '@nestjs/throttler';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Env } from '../config/env.js';
import { clientAddress } from '../http/request-origin.js';
import { admit } from './admissions.js';
import { validateBody } from './body-validation.js';
import { FailedLogins } from './failed-logins.js';
import { KnownAddresses } from './known-addresses.js';
import { countersOf, emailIn, type NamedCounter, type RateLimitName } from './rate-limit-rules.js';
import { type Admission, RATE_LIMIT_STORE, type RateLimitStore } from './rate-limit-store.js';

export const LimitedBy = Reflector.createDecorator<readonly RateLimitName[]>();

interface Decision {
  counters: NamedCounter[];
  admission: Admission;
}

// Runs after the guards of the application, and validates the body first. Only `handleRequest` differs from ThrottlerGuard:
// all limits of a route are decided in one step, so that none counts what another refuses.
@Injectable()
export class RateLimitGuard extends ThrottlerGuard {
  @Inject(Env) private readonly env: Env;
  @Inject(RATE_LIMIT_STORE) private readonly store: RateLimitStore;
  @Inject(KnownAddresses) private readonly known: KnownAddresses;
  @Inject(FailedLogins) private readonly failed: FailedLogins;

  protected override async handleRequest({ context }: ThrottlerRequest): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const counters = countersOf(this.env, this.reflector.get(LimitedBy, context.getHandler()), request);
    if (counters.length === 0) return true;

    await validateBody(context);
    const { admission, counters: decisive } = await this.decide(counters, request);
    const userId = admission.admitted ? undefined : this.failed.findUser(emailIn(request));
    admit(request, http.getResponse<FastifyReply>(), decisive, admission, userId);
    return true;
  }

  private async decide(counters: NamedCounter[], request: FastifyRequest): Promise<Decision> {
    const admission = await this.store.admit(counters);
    if (!isRefusedForAccountOnly(counters, admission)) return { counters, admission };
    // The attempt counts for the other limits in any case: they bound how often the database is queried.
    const others = counters.filter(({ name }) => name !== 'account');
    const byOthers = await this.store.admit(others);
    const isKnown =
      byOthers.admitted && (await this.known.include(emailIn(request)!, clientAddress(request)));
    return isKnown ? { counters: others, admission: byOthers } : { counters, admission };
  }
}

function isRefusedForAccountOnly(
  counters: readonly NamedCounter[],
  { admitted, quotas }: Admission,
): boolean {
  return !admitted && counters.every(({ name }, i) => (quotas[i]!.remaining === 0) === (name === 'account'));
}
