import { applyDecorators, Injectable } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import {
  Validate,
  ValidatorConstraint,
  type ValidationArguments,
  type ValidatorConstraintInterface,
} from 'class-validator';
import { Env } from '../../config/env.js';
import { MAX_CODE_POINTS, passwordFault } from './password-policy.js';

/** the minimum of `PASSWORD_MIN_LENGTH` */
const MIN_CODE_POINTS = 8;

/** Applies the password policy; class-validator gets it from the Nest container (`useContainer`). */
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
    const { email } = args.object as { email?: string };
    return passwordFault(value, email, this.env.passwordMinLength);
  }
}

export function IsAcceptablePassword(): PropertyDecorator {
  return applyDecorators(
    ApiProperty({ format: 'password', minLength: MIN_CODE_POINTS, maxLength: MAX_CODE_POINTS }),
    Validate(AcceptablePassword),
  );
}
