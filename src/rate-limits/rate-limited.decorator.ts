import { UseGuards, applyDecorators } from '@nestjs/common';
import { LimitedBy, RateLimitGuard } from './rate-limit.guard.js';
import type { RateLimitName } from './rate-limit-rules.js';

/** Limits the handler under the named limits of the configuration. */
export const RateLimited = (...names: RateLimitName[]): MethodDecorator =>
  applyDecorators(LimitedBy(names), UseGuards(RateLimitGuard));
