import { UseGuards, UseInterceptors, applyDecorators } from '@nestjs/common';
import { toProblem } from '../problems/to-problem.js';
import { GiveBackInterceptor } from './give-back.interceptor.js';
import { RateLimitGuard } from './rate-limit.guard.js';
import type { RateLimitName } from './rate-limit-rules.js';
import { RateLimiting, type RateLimitingOptions } from './rate-limiting.js';

/** A service that was busy or broken must not use up the tries of a client that obeys `Retry-After`. */
const unlessServiceFailed = (error: unknown): boolean => error === undefined || toProblem(error).status < 500;

/** Limits the handler under the named limits of the configuration. */
export const RateLimited = (
  limits: readonly RateLimitName[],
  isCounted: RateLimitingOptions['isCounted'] = unlessServiceFailed,
): MethodDecorator =>
  applyDecorators(
    RateLimiting({ limits, isCounted }),
    UseGuards(RateLimitGuard),
    UseInterceptors(GiveBackInterceptor),
  );
