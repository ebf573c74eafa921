import { applyDecorators } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiHeader, ApiQuery } from '@nestjs/swagger';
import { ApiProblems, invalidFields, WRITE_PARAMETERS } from '../openapi/decorators.js';
import type { WriteOptions } from './write-controls.js';

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

/** Do not set `dryRun` for routes that take an email, because it would reveal which emails have accounts. */
export const OrgWrite = (options: Pick<WriteOptions, 'dryRun'> = {}): MethodDecorator =>
  WriteRoute({ ifMatch: true, idempotencyKey: true, remedy: true, ...options });
