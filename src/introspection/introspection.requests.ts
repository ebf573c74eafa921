import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ValidateBy, ValidateIf } from 'class-validator';
import type { FastifyRequest } from 'fastify';
import { IfGiven, IsId, PageCursor, PageLimit } from '../http/fields.js';
import { isEntityId } from '../identifiers/entity-id.js';
import { ApiId, ApiText } from '../openapi/decorators.js';
import { ValidationProblem } from '../problems/problem.js';

const TOKEN = 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiIwMTlhOGYzZSJ9.c2lnbmF0dXJl';
const ORG_ID = '019a8f3e-6a2d-7f10-8b3c-5d7e9f1a2b3c';

export const INTROSPECTIONS = {
  token: { summary: 'the token alone', value: { token: TOKEN } },
  org: { summary: 'the token, and the role in an organization', value: { token: TOKEN, orgId: ORG_ID } },
};

/** Describes the form; `IntrospectionForm` reads it. */
export class IntrospectTokenRequest {
  /** The access token or API key to introspect. */
  @ApiText(1) token: string;

  /** Id of the organization in which to look up the role of the user. */
  @ApiId() orgId?: string;

  /** Ignored. */
  @ApiText(1) token_type_hint?: string;
}

export const TOKEN_NEEDED = 'must be text that is not empty';

export interface IntrospectionForm {
  token: string;
  orgId: string | undefined;
}

/** It is checked by hand: the validation of a class took as long as a lookup in the database. */
export const IntrospectionForm = createParamDecorator((_: unknown, context: ExecutionContext) => {
  const { body } = context.switchToHttp().getRequest<FastifyRequest<{ Body?: Partial<IntrospectionForm> }>>();
  const { token = '', orgId } = body ?? {};
  const errors = [
    ...(token === '' ? [{ field: 'token', message: TOKEN_NEEDED }] : []),
    ...(orgId === undefined || isEntityId(orgId) ? [] : [{ field: 'orgId', message: NO_ORG_ID }]),
  ];
  if (errors.length > 0) throw new ValidationProblem(errors);
  return { token, orgId };
});

const NO_ORG_ID = 'must be the id of an organization';
export const ONE_IS_NEEDED = 'must be given, unless userId is';

export class ListMembershipsQuery {
  /** Id of the organization whose memberships to list. */
  @ApiId()
  @ValidateIf(({ orgId, userId }: ListMembershipsQuery) => orgId !== undefined || userId === undefined)
  @ValidateBy({
    name: 'isEntityId',
    validator: {
      validate: isEntityId,
      defaultMessage: (one) => (one?.value === undefined ? ONE_IS_NEEDED : NO_ORG_ID),
    },
  })
  orgId?: string;

  /** Id of the user whose memberships to list. */
  @IfGiven()
  @IsId('a user')
  userId?: string;

  @PageLimit('memberships') limit?: string;
  @PageCursor() cursor?: string;
}
