import { applyDecorators } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiHeader, ApiQuery } from '@nestjs/swagger';
import { ApiProblems, invalidFields, WRITE_PARAMETERS } from '../openapi/decorators.js';
import type { WriteOptions } from './write.js';

/** Declares the options of a route; all that is left to its handler is to pass `@CurrentWrite()` to Writes. */
export const WriteRoute = (options: WriteOptions): MethodDecorator =>
  applyDecorators(
    RouteConfig({ write: options }),
    ...(options.remedy ? [ApiQuery(WRITE_PARAMETERS.remedy)] : []),
    ...(options.dryRun
      ? [ApiQuery(WRITE_PARAMETERS.dryRun), ApiProblems(invalidFields({ dryRun: 'must be true or false' }))]
      : []),
    ...(options.idempotencyKey
      ? [ApiHeader(WRITE_PARAMETERS.idempotencyKey), ApiProblems('idempotency_key_reused')]
      : []),
    ...(options.ifMatch ? [ApiHeader(WRITE_PARAMETERS.ifMatch), ApiProblems('precondition_failed')] : []),
  );

// `dryRun` is not for routes that take an email, which it would turn into an oracle; with `remedy`, refusals can name
// the way out.
export const OrgWrite = (options: Pick<WriteOptions, 'dryRun' | 'remedy'> = {}): MethodDecorator =>
  WriteRoute({ ifMatch: true, idempotencyKey: true, ...options });
