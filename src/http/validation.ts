import { type ValidationError, ValidationPipe } from '@nestjs/common';
import { type FieldError, ValidationProblem } from '../problems/problem.js';

export function validationPipe(): ValidationPipe {
  return new ValidationPipe({
    whitelist: true,
    transform: true,
    forbidUnknownValues: true,
    exceptionFactory: (errors) => new ValidationProblem(errors.map(toFieldError)),
  });
}

/** Our messages omit the field's name; the library's begin with it. */
function toFieldError({ property, constraints }: ValidationError): FieldError {
  const message = Object.values(constraints ?? {})[0] ?? 'is not valid';
  return {
    field: property,
    message: message.startsWith(`${property} `) ? message.slice(property.length + 1) : message,
  };
}
