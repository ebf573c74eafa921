import { SetMetadata, UseGuards, applyDecorators } from '@nestjs/common';
import { EmailRateLimitGuard, RATE_LIMIT_NAME } from './email-rate-limit.guard.js';
import type { RateLimitName } from './rate-limit-rules.js';

/** Limits the handler by client and the `email` in the body, under the limit of that name in the configuration. */
export const RateLimited = (name: RateLimitName): MethodDecorator =>
  applyDecorators(SetMetadata(RATE_LIMIT_NAME, name), UseGuards(EmailRateLimitGuard));
