import { type ValidationError, ValidationPipe } from '@nestjs/common';
import { type FieldError, ValidationProblem } from '../problems/problem.js';

/** Unknown fields are dropped, nothing is coerced, and the answer has one entry for each wrong field. */
export function validationPipe(): ValidationPipe {
  return new ValidationPipe({
    whitelist: true,
    transform: true,
    forbidUnknownValues: true,
    exceptionFactory: (errors) => new ValidationProblem(errors.map(toFieldError)),
  });
}

/** Messages are written without the field's name; those of the library begin with it. */
function toFieldError({ property, constraints }: ValidationError): FieldError {
  const message = Object.values(constraints ?? {})[0] ?? 'is not valid';
  return {
    field: property,
    message: message.startsWith(`${property} `) ? message.slice(property.length + 1) : message,
  };
}
