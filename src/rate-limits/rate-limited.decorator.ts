import { UseGuards, applyDecorators } from '@nestjs/common';
import { ApiProblems } from '../openapi/decorators.js';
import { LimitedBy, RateLimitGuard } from './rate-limit.guard.js';
import { type RateLimitName, refusalOf } from './rate-limit-rules.js';

/** In examples the limit of the first name stands for the handler. */
export const RateLimited = (...names: [RateLimitName, ...RateLimitName[]]): MethodDecorator =>
  applyDecorators(
    LimitedBy(names),
    UseGuards(RateLimitGuard),
    ApiProblems({ code: 'rate_limited', detail: refusalOf(names[0]) }),
  );
