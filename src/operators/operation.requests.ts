import { applyDecorators } from '@nestjs/common';
import { IsFlag, IsId, IsOneLine } from '../http/fields.js';
import { Operators } from '../access/access.decorators.js';
import { ApiProblems, invalidFields } from '../openapi/decorators.js';
import { NO_SUCH_USER } from './operators.errors.js';

const MAX_REASON = 200;

const REASON_NEEDED = `must be text of 1 to ${MAX_REASON} characters without control characters`;

/** Every change by an operator has one. */
export class ReasonRequest {
  /** why, for the record; only operators read it */
  @IsOneLine(MAX_REASON, { example: 'ticket 4711: asked for it by phone' }) reason: string;
}

export class ForcibleRequest extends ReasonRequest {
  /** whether to do what would leave an organization without an enabled owner; by default it is refused */
  @IsFlag({ example: false }) force?: boolean;
}

export class MakeOwnerRequest extends ReasonRequest {
  /** the user who becomes an owner */
  @IsId('a user', { example: '019a8f3e-7c3e-7a21-8c4d-6e8f0a2b3c4d' }) userId: string;

  /** whether to add somebody who is no member; by default they are refused */
  @IsFlag({ example: false }) force?: boolean;
}

export const UNKNOWN_USER = { code: 'user_not_found', detail: NO_SUCH_USER } as const;

/** Declares a change by an operator, which takes a reason. */
export const Operation = (): MethodDecorator =>
  applyDecorators(Operators(), ApiProblems(invalidFields({ reason: REASON_NEEDED })));

/** Declares a change of an account: that of an operator is refused. */
export const AccountOperation = (): MethodDecorator =>
  applyDecorators(Operation(), ApiProblems(UNKNOWN_USER, 'operator_protected'));
