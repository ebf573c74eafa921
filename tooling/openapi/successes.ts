import type { OpenAPIObject } from '@nestjs/swagger';
import type { Schema, SchemaObject } from '#src/openapi/decorators';
import { type Operation, operationsOf, type Schemas } from './document-parts.ts';
import { DESCRIPTIONS } from './texts.ts';

type Value = Record<string, unknown>;

type Variants = Record<string, (example: Value) => Value>;

const whole = (example: Value): Value => example;

const without =
  (...names: string[]) =>
  (example: Value): Value =>
    Object.fromEntries(Object.entries(example).filter(([name]) => !names.includes(name)));

const onlyOf = (example: Value, ...names: string[]): Value =>
  Object.fromEntries(Object.entries(example).filter(([name]) => names.includes(name)));

const LOGIN: Variants = { accessToken: without('expiresAt', 'refreshToken'), refreshToken: whole };

const SEARCH: Variants = { page: without('complete'), lastPageOfSearch: without('nextCursor') };

const VARIANTS: Record<string, Variants> = {
  adminListUsers: SEARCH,
  adminListOrgs: SEARCH,
  register: LOGIN,
  login: LOGIN,
  completeLogin: LOGIN,
  finishProviderLogin: LOGIN,
  getAuthConfig: { plain: without('providers', 'crossDeviceLogin'), withLogins: whole },
  issueCode: { anyService: without('audience', 'expiresAt'), oneService: whole },
  introspectToken: {
    active: without('org', 'act', 'via_epoch', 'login_sid', 'branch_sid', 'key'),
    withOrganization: without('act', 'via_epoch', 'login_sid', 'branch_sid', 'key'),
    handedOn: without('org', 'branch_sid', 'key'),
    apiKey: (example) => {
      const known = onlyOf(example, 'active', 'token_type', 'iss', 'sub', 'iat', 'exp', 'key');
      const { username, email_verified } = example;
      return { ...known, aud: 'billing', client_id: 'billing', username, email_verified };
    },
    ofService: ({ sub: _sub, ...example }) =>
      Object.assign(
        onlyOf(example, 'active', 'token_type', 'iss', 'aud', 'jti', 'iat', 'exp', 'client_id', 'via_epoch'),
        {
          sub: 'service:billing',
        },
      ),
    inactive: () => ({ active: false }),
  },
  issueServiceToken: { forUser: whole, forItself: without('issued_token_type') },
  getMe: {
    plain: whole,
    withInclude: ({ user, orgs }) => ({
      user: { ...(user as Value), emailVerified: true },
      orgs: (orgs as Value[]).map((org) => Object.assign({}, org, { role: 'owner' })),
    }),
  },
  listEvents: { events: whole, currentCursor: ({ next }) => ({ events: [], next }) },
  listDirectoryOrgs: { byId: without('nextCursor'), page: whole },
  listMembers: { page: whole, wholeList: without('nextCursor') },
};

export function describeSuccesses(document: OpenAPIObject): void {
  const schemas = document.components?.schemas ?? {};
  for (const operation of operationsOf(document))
    for (const [status, response] of Object.entries(operation.responses)) {
      const { schema } = Object.values(contentOf(response))[0] ?? {};
      if (!status.startsWith('2') || response === undefined || '$ref' in response || !schema) continue;
      response.description = outcomeOf(operation, status, schema, schemas);
      for (const content of Object.values(response.content ?? {}))
        content.examples = examplesOf(operation, exampleOf(schema, schemas) as Value);
    }
}

const contentOf = (response: Operation['responses'][string]): Record<string, { schema?: Schema }> =>
  (response && 'content' in response && response.content) || {};

function outcomeOf(
  { operationId = '' }: Operation,
  status: string,
  schema: Schema,
  schemas: Schemas,
): string {
  const outcome = DESCRIPTIONS[`${operationId}${status}`] ?? DESCRIPTIONS[operationId];
  return outcome ?? resolve(schema, schemas).description ?? '';
}

function examplesOf({ operationId = '' }: Operation, example: Value): Record<string, { value: Value }> {
  const variants = Object.entries(VARIANTS[operationId] ?? { success: whole });
  return Object.fromEntries(variants.map(([name, vary]) => [name, { value: vary(example) }]));
}

const resolve = (schema: Schema, schemas: Schemas): SchemaObject =>
  '$ref' in schema ? resolve(schemas[schema.$ref.split('/').at(-1)!]!, schemas) : schema;

export function exampleOf(schema: Schema, schemas: Schemas): unknown {
  const { example, enum: values, oneOf, allOf, items, properties } = resolve(schema, schemas);
  if (example !== undefined) return example;
  if (values) return values[0];
  const [only] = oneOf ?? allOf ?? [];
  if (only) return exampleOf(only, schemas);
  if (items) return [exampleOf(items, schemas)];
  return Object.fromEntries(
    Object.entries(properties ?? {}).map(([name, property]) => [name, exampleOf(property, schemas)]),
  );
}
