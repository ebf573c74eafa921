import { type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { ThrottlerGuard } from '@nestjs/throttler';
import type { FastifyRequest } from 'fastify';
import { Env } from '../config/env.js';
import { canonicalEmail } from '../users/email-address.js';
import { clientAddress } from '../http/client-address.js';
import { clientKey } from './client-key.js';
import { rateLimitHeaders } from './rate-limit-headers.js';
import { rateLimitKey } from './rate-limit-key.js';
import { type NamedRateLimit, type RateLimitName, rateLimitOf } from './rate-limit-rules.js';
import { RateLimitedError } from './rate-limits.errors.js';

/** Metadata key: the {@link RateLimitName} of a handler. */
export const RATE_LIMIT_NAME = 'rate-limits:name';

/** What the limit reads of a Fastify request; the body is as it came, guards run before validation. */
type LimitedRequest = Pick<FastifyRequest, 'ip' | 'socket' | 'body'>;

/**
 * Limits a handler marked `@RateLimited` by client and canonical e-mail. A request without a usable e-mail is
 * not counted: validation refuses it.
 *
 * Of ThrottlerGuard this keeps the storage and the way to the reply. Its `canActivate` is replaced whole, since
 * it names headers after the throttler (`Retry-After-login`) and applies every throttler to every route.
 */
@Injectable()
export class EmailRateLimitGuard extends ThrottlerGuard {
  @Inject(Env) private readonly env: Env;

  /** What the base class prepares here, and warns of where every limit is off, is not used. */
  override onModuleInit(): Promise<void> {
    return Promise.resolve();
  }

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const name = this.reflector.get<RateLimitName>(RATE_LIMIT_NAME, context.getHandler());
    const rule = rateLimitOf(this.env, name);
    if (!rule) return true;
    const { req, res } = this.getRequestResponse(context);
    const key = keyOf(rule, req as LimitedRequest);
    if (!key) return true;

    const { limit, windowMs } = rule;
    const record = await this.storageService.increment(key, windowMs, limit, 0, name);
    const remaining = Math.max(0, limit - record.totalHits);
    for (const [header, value] of Object.entries(rateLimitHeaders(rule, remaining, record.timeToExpire))) {
      this.setResponseHeader(res, header, value);
    }
    if (record.isBlocked) throw new RateLimitedError(record.timeToBlockExpire);
    return true;
  }
}

function keyOf(rule: NamedRateLimit, request: LimitedRequest): string | undefined {
  const email = canonicalEmail(emailIn(request.body));
  return email === undefined ? undefined : rateLimitKey(rule.name, clientKey(clientAddress(request)), email);
}

function emailIn(body: unknown): unknown {
  return typeof body === 'object' && body !== null && 'email' in body ? body.email : undefined;
}
