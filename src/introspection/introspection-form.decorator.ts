import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { isEntityId } from '../identifiers/entity-id.js';
import { ValidationProblem } from '../problems/problem.js';

export const TOKEN_NEEDED = 'must be text that is not empty';

export interface IntrospectionForm {
  token: string;
  orgId: string | undefined;
}

/** It is checked by hand: the validation of a class took as long as a lookup in the database. */
export const IntrospectionForm = createParamDecorator((_: unknown, context: ExecutionContext) => {
  const { body } = context.switchToHttp().getRequest<FastifyRequest<{ Body?: Partial<IntrospectionForm> }>>();
  return validated(body ?? {});
});

function validated({ token = '', orgId }: Partial<IntrospectionForm>): IntrospectionForm {
  const errors = [
    ...(token === '' ? [{ field: 'token', message: TOKEN_NEEDED }] : []),
    ...(orgId === undefined || isEntityId(orgId) ? [] : [WRONG_ORG]),
  ];
  if (errors.length > 0) throw new ValidationProblem(errors);
  return { token, orgId };
}

const WRONG_ORG = { field: 'orgId', message: 'must be the id of an organization' };
