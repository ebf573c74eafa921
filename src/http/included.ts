import { applyDecorators, createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiQuery } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { ApiProblems, invalidFields } from '../openapi/decorators.js';
import { ValidationProblem } from '../problems/problem.js';

const MAX_LENGTH = 64;

export type Included = ReadonlySet<string>;

const NOTHING: Included = new Set();

/** Not a validated class, because `GET /api/me` without `include` is the most used route of the service. */
export const Included = createParamDecorator(
  (parts: readonly string[], context: ExecutionContext): Included => {
    const { include } = context.switchToHttp().getRequest<FastifyRequest>().query as { include?: unknown };
    if (include === undefined) return NOTHING;
    // A parameter that is repeated means the same as its values with commas between them.
    const text: unknown = Array.isArray(include) ? include.join(',') : include;
    const words = typeof text === 'string' && text.length <= MAX_LENGTH ? text.split(',') : [''];
    if (words.every((word) => parts.includes(word))) return new Set(words);
    throw new ValidationProblem([{ field: 'include', message: expected(parts) }]);
  },
);

export const ApiIncluded = (parts: readonly string[], description: string): MethodDecorator =>
  applyDecorators(
    ApiQuery({
      name: 'include',
      required: false,
      description,
      style: 'form',
      explode: false,
      schema: { type: 'array', items: { type: 'string', enum: [...parts] }, minItems: 1 },
    }),
    ApiProblems(invalidFields({ include: expected(parts) })),
  );

export const PROFILE_ONLY = ['profile'] as const;
export const MEMBER_PROFILES = 'If `profile`, each member has a `profile` with name and picture.';

function expected(parts: readonly string[]): string {
  return parts.length === 1 ? `must be ${parts[0]}` : `must be a comma-separated list of ${parts.join(', ')}`;
}
