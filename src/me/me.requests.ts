import { ApiProperty, ApiQuery } from '@nestjs/swagger';
import { ValidateBy } from 'class-validator';
import { applyDecorators, createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { IsAcceptablePassword, IsPassword } from '../auth/passwords/password.decorators.js';
import { IsEmailAddress } from '../users/user.fields.js';
import { SecondFactorCode } from '../auth/auth.requests.js';
import { IfGiven, IsText, PageCursor, PageLimit } from '../http/fields.js';
import { ApiProblems, invalidFields } from '../openapi/decorators.js';
import { ValidationProblem } from '../problems/problem.js';

export class EnrollSecondFactorRequest {
  @IsPassword() password: string;
}

export class ChangeEmailRequest {
  /** The new email. */
  @IsEmailAddress('ada.lovelace@example.com') email: string;

  /** The current password. */
  @IsPassword() password: string;

  @SecondFactorCode() code?: string;
}

export class ChangePasswordRequest {
  @IsPassword() currentPassword: string;

  /** The new password, under the rules of registration. */
  @IsAcceptablePassword('an engine weaves algebraic patterns') newPassword: string;

  @SecondFactorCode() code?: string;
}

/** The password and a code, since either alone may be stolen. */
export class ChangeSecondFactorRequest {
  @IsPassword() password: string;

  /** A TOTP code of six digits, or a recovery code. Case, spaces and hyphens make no difference. */
  @IsText(6, 64, { example: '492039' }) code: string;
}

export class ConfirmSecondFactorRequest {
  /** A TOTP code: the six digits that the authenticator app shows. Spaces make no difference. */
  @IsText(6, 64, { example: '492039' }) code: string;
}

export class DeleteAccountRequest {
  @IsPassword() password: string;

  @SecondFactorCode() code?: string;
}

export class EndSessionsQuery {
  /** Whether the session of the access token is revoked, too. The default is false. */
  @ApiProperty({ type: Boolean })
  @IfGiven()
  @ValidateBy({
    name: 'isBooleanText',
    validator: {
      validate: (value) => value === 'true' || value === 'false',
      defaultMessage: () => 'must be true or false',
    },
  })
  all?: string;
}

export class ListOwnOrgsQuery {
  @PageLimit('organizations') limit?: string;
  @PageCursor() cursor?: string;
}

export class VerifyEmailRequest {
  /** The emailed code. Case, spaces and hyphens make no difference. */
  @IsText(10, 64, { example: '7K2M9-QX4TB' }) code: string;
}

const PARTS: readonly string[] = ['roles', 'account'];
const MESSAGE = `must be a comma-separated list of ${PARTS.join(' and ')}`;
/** longer than any list without repetitions */
const MAX_LENGTH = 64;

export type Included = ReadonlySet<string>;

const NOTHING: Included = new Set();

/** Not a validated class, because the route without `include` is the most used one of the service. */
export const Included = createParamDecorator((_: unknown, context: ExecutionContext): Included => {
  const { include } = context.switchToHttp().getRequest<FastifyRequest>().query as { include?: unknown };
  if (include === undefined) return NOTHING;
  // A parameter that is repeated means the same as its values with commas between them.
  const text: unknown = Array.isArray(include) ? include.join(',') : include;
  const words = typeof text === 'string' && text.length <= MAX_LENGTH ? text.split(',') : [''];
  if (words.every((word) => PARTS.includes(word))) return new Set(words);
  throw new ValidationProblem([{ field: 'include', message: MESSAGE }]);
});

export const ApiIncluded = (): MethodDecorator =>
  applyDecorators(
    ApiQuery({
      name: 'include',
      required: false,
      description:
        'Additional fields: `roles` adds the `role` of the user to each organization, `account` adds ' +
        '`emailVerified` to the user.',
      style: 'form',
      explode: false,
      schema: { type: 'array', items: { type: 'string', enum: [...PARTS] }, minItems: 1 },
    }),
    ApiProblems(invalidFields({ include: MESSAGE })),
  );
