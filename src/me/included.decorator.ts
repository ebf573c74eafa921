import { applyDecorators, createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiQuery } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { ApiProblems, invalidFields } from '../openapi/decorators.js';
import { ValidationProblem } from '../problems/problem.js';

const PARTS = ['roles', 'account'] as const;
const MESSAGE = `must be a comma-separated list of ${PARTS.join(' and ')}`;
/** longer than any list without repetitions */
const MAX_LENGTH = 64;

export type Included = ReadonlySet<(typeof PARTS)[number]>;

const NOTHING: Included = new Set();

/** Not a validated class, because the route without `include` is the most used one of the service. */
export const Included = createParamDecorator((_: unknown, context: ExecutionContext): Included => {
  const { include } = context.switchToHttp().getRequest<FastifyRequest>().query as { include?: unknown };
  return include === undefined ? NOTHING : parse(include);
});

export const ApiIncluded = (): MethodDecorator =>
  applyDecorators(
    ApiQuery({
      name: 'include',
      required: false,
      description:
        'additional fields of the answer: `roles` adds the `role` of the user to each organization, `account` adds ' +
        '`emailVerified` to the user',
      style: 'form',
      explode: false,
      schema: { type: 'array', items: { type: 'string', enum: [...PARTS] }, minItems: 1 },
    }),
    ApiProblems(invalidFields({ include: MESSAGE })),
  );

function parse(text: unknown): Included {
  const words = typeof text === 'string' && text.length <= MAX_LENGTH ? text.split(',') : [''];
  const parts = PARTS.filter((part) => words.includes(part));
  if (words.every((word) => parts.some((part) => part === word))) return new Set(parts);
  throw new ValidationProblem([{ field: 'include', message: MESSAGE }]);
}
