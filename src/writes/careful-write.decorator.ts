import { applyDecorators } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiHeader, ApiQuery } from '@nestjs/swagger';
import { ApiProblems, invalidFields } from '../openapi/api-problems.decorator.js';
import {
  DRY_RUN_PARAMETER,
  IDEMPOTENCY_KEY_PARAMETER,
  IF_MATCH_PARAMETER,
  REMEDY_PARAMETER,
} from '../openapi/write-parameters.js';
import type { WriteOptions } from './write-options.js';

/** How carefully a route can be asked; its handler passes `@CurrentWrite()` to Writes, and nothing else is to be done. */
export const CarefulWrite = (options: WriteOptions): MethodDecorator =>
  applyDecorators(
    RouteConfig({ write: options }),
    ...(options.remedy ? [ApiQuery(REMEDY_PARAMETER)] : []),
    ...(options.dryRun
      ? [ApiQuery(DRY_RUN_PARAMETER), ApiProblems(invalidFields({ dryRun: 'must be true or false' }))]
      : []),
    ...(options.idempotencyKey
      ? [ApiHeader(IDEMPOTENCY_KEY_PARAMETER), ApiProblems('idempotency_key_reused')]
      : []),
    ...(options.ifMatch ? [ApiHeader(IF_MATCH_PARAMETER), ApiProblems('precondition_failed')] : []),
  );

/**
 * A change of one organization: below `/api/orgs/:orgId` every one takes `If-Match` and `Idempotency-Key`.
 * With `dryRun` it takes `?dryRun=true`: only where no e-mail is given, which would be an oracle.
 * With `remedy` its refusals can name the way out.
 */
export const OrgWrite = (options: Pick<WriteOptions, 'dryRun' | 'remedy'> = {}): MethodDecorator =>
  CarefulWrite({ ifMatch: true, idempotencyKey: true, ...options });
