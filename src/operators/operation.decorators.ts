import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { Operators } from '../access/access.decorators.js';
import { ApiProblems, invalidFields } from '../openapi/decorators.js';
import { REASON_NEEDED } from './operation.request.js';
import { NO_SUCH_USER } from './operators.errors.js';

export const UNKNOWN_USER = { code: 'user_not_found', detail: NO_SUCH_USER } as const;

/** Declares a change by an operator, which takes a reason. */
export const Operation = (): MethodDecorator =>
  applyDecorators(Operators(), ApiProblems(invalidFields({ reason: REASON_NEEDED })));

/** Declares a change of an account: that of an operator is refused. */
export const AccountOperation = (): MethodDecorator =>
  applyDecorators(Operation(), ApiProblems(UNKNOWN_USER, 'operator_protected'));

/** Declares the cursor of a page's answer. */
export const NextCursor = (example: string): PropertyDecorator =>
  ApiPropertyOptional({
    description: '`cursor` of the next page; absent on the last page',
    example,
    pattern: '^[A-Za-z0-9_-]+$',
  });
