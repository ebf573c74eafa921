import { Transform } from 'class-transformer';
import { applyDecorators, Injectable } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import {
  IsNotEmpty,
  IsString,
  Validate,
  ValidateBy,
  type ValidationArguments,
  ValidatorConstraint,
  type ValidatorConstraintInterface,
} from 'class-validator';
import {
  COMMON_PASSWORD,
  isCommonPassword,
  MAX_CODE_POINTS,
  normalizePassword,
  passwordFault,
} from './password-policy.js';
import { BREACHED_PASSWORD } from './breached-passwords.js';
import { Env } from '../../config/env.js';
import type { FieldOptions, ProblemExample } from '../../openapi/decorators.js';

const Normalized = (): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' ? normalizePassword(value) : value,
  );

export const IsPassword = (options: FieldOptions = {}): PropertyDecorator =>
  applyDecorators(
    ApiProperty({ format: 'password', minLength: 1, example: 'correct horse battery', ...options }),
    Normalized(),
    IsNotEmpty(),
    IsString(),
  );

/** the lowest `PASSWORD_MIN_LENGTH` that can be set */
const MIN_CODE_POINTS = 8;

/** class-validator gets this from the Nest container (`useContainer`). */
@Injectable()
@ValidatorConstraint({ name: 'isAcceptablePassword' })
export class AcceptablePassword implements ValidatorConstraintInterface {
  constructor(private readonly env: Env) {}

  validate(value: unknown, args: ValidationArguments): boolean {
    return this.fault(value, args) === undefined;
  }

  defaultMessage(args: ValidationArguments): string {
    return this.fault(args.value, args) ?? '';
  }

  private fault(value: unknown, args: ValidationArguments): string | undefined {
    if (typeof value !== 'string') return 'must be a string';
    const { email } = args.object as { email?: string | null };
    const fault = passwordFault(value, email ?? undefined, this.env);
    return fault === COMMON_PASSWORD ? undefined : fault;
  }
}

export function commonPassword(field: string): ProblemExample & { code: 'password_common' } {
  return { code: 'password_common', errors: [{ field, message: COMMON_PASSWORD }] };
}

export function breachedPassword(field: string): ProblemExample & { code: 'password_breached' } {
  return { code: 'password_breached', errors: [{ field, message: BREACHED_PASSWORD }] };
}

export function IsAcceptablePassword(example: string): PropertyDecorator {
  return applyDecorators(
    ApiProperty({ format: 'password', minLength: MIN_CODE_POINTS, maxLength: MAX_CODE_POINTS, example }),
    Normalized(),
    Validate(AcceptablePassword),
    ValidateBy(
      {
        name: 'isUncommonPassword',
        validator: {
          validate: (value) => typeof value !== 'string' || !isCommonPassword(value),
          defaultMessage: () => COMMON_PASSWORD,
        },
      },
      { context: { code: 'password_common' } },
    ),
  );
}
