import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { GRANT_TYPES } from '../auth/tokens/tokens.responses.js';
import { ApiText } from '../openapi/decorators.js';
import { Problem, ValidationProblem } from '../problems/problem.js';
import { isServiceName, SERVICE_NAME, SERVICE_NEEDED } from '../services/service-secrets.js';
import { TOKEN_NEEDED } from './introspection.requests.js';

export const ACCESS_TOKEN_TYPE = 'urn:ietf:params:oauth:token-type:access_token';
const [OWN, EXCHANGE] = GRANT_TYPES;

export const TOKEN_REQUESTS = {
  user: {
    summary: 'a token for the user whose token the service holds',
    value: {
      grant_type: EXCHANGE,
      audience: 'ledger',
      subject_token: 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiIwMTlhOGYzZSJ9.c2lnbmF0dXJl',
      subject_token_type: ACCESS_TOKEN_TYPE,
    },
  },
  own: { summary: 'a token of the service itself', value: { grant_type: OWN, audience: 'ledger' } },
};

/** Describes the form; `ServiceTokenForm` reads it. */
export class ServiceTokenRequest {
  @ApiProperty({ enum: GRANT_TYPES, description: 'How the service gets the token.' })
  grant_type: (typeof GRANT_TYPES)[number];

  /** Name of the service to call. */
  @ApiProperty({ pattern: SERVICE_NAME.source, example: 'ledger' }) audience: string;

  /** Access token of the user or API key, for the calling service. Required to exchange it, and rejected otherwise. */
  @ApiText(1) subject_token?: string;

  /** Required to exchange a token, and rejected otherwise. */
  @ApiProperty({ enum: [ACCESS_TOKEN_TYPE] }) subject_token_type?: typeof ACCESS_TOKEN_TYPE;

  /** Optional if a token is exchanged, and rejected otherwise. */
  @ApiProperty({ enum: [ACCESS_TOKEN_TYPE] }) requested_token_type?: typeof ACCESS_TOKEN_TYPE;
}

export interface ServiceTokenForm {
  audience: string;
  /** undefined if the service calls for itself */
  subjectToken: string | undefined;
}

type Parameters = Partial<Record<string, string>>;
type Rule = (value: string | undefined) => string | undefined;

const refused: Rule = (value) => (value === undefined ? undefined : 'is not supported');
const accessToken: Rule = (value) =>
  value === ACCESS_TOKEN_TYPE ? undefined : `must be ${ACCESS_TOKEN_TYPE}`;

const AUDIENCE: Rule = (value) => (value !== undefined && isServiceName(value) ? undefined : SERVICE_NEEDED);

const NEVER = { actor_token: refused, actor_token_type: refused, resource: refused, scope: refused };

const RULES: Record<string, Record<string, Rule>> = {
  [OWN]: {
    audience: AUDIENCE,
    subject_token: refused,
    subject_token_type: refused,
    requested_token_type: refused,
    ...NEVER,
  },
  [EXCHANGE]: {
    subject_token: (value) => (value === undefined ? TOKEN_NEEDED : undefined),
    subject_token_type: accessToken,
    requested_token_type: (value) => (value === undefined ? undefined : accessToken(value)),
    audience: AUDIENCE,
    ...NEVER,
  },
};

export const ServiceTokenForm = createParamDecorator((_: unknown, context: ExecutionContext) => {
  const { body } = context.switchToHttp().getRequest<FastifyRequest<{ Body?: Parameters }>>();
  // RFC 6749 section 3.2: a parameter without a value counts as omitted.
  const form = new Map(Object.entries(body ?? {}).filter(([, value]) => value !== ''));
  const grantType = form.get('grant_type');
  const rules = GRANT_TYPES.some((type) => type === grantType) ? RULES[grantType!] : undefined;
  if (!rules) throw new Problem('unsupported_grant_type');
  const errors = Object.entries(rules).flatMap(([field, rule]) => {
    const message = rule(form.get(field));
    return message === undefined ? [] : [{ field, message }];
  });
  if (errors.length > 0) throw new ValidationProblem(errors);
  return { audience: form.get('audience'), subjectToken: form.get('subject_token') };
});
