import { readFile } from 'node:fs/promises';
import spectral from '@stoplight/spectral-core';
import { oas } from '@stoplight/spectral-rulesets';
import { afterAll, describe, expect, it } from 'vitest';
import { startService } from '../support/service.js';
import { type Documented, DocumentReader, type Schema, schemasIn } from './documented.js';

const ENDPOINTS = [
  { endpoint: 'POST /api/auth/register', status: '201', public: true, body: true },
  { endpoint: 'POST /api/auth/login', status: '200', public: true, body: true },
  { endpoint: 'POST /api/auth/login/second-factor', status: '200', public: true, body: true },
  { endpoint: 'POST /api/auth/code/exchange', status: '200', public: true, body: true },
  { endpoint: 'POST /api/auth/refresh', status: '200', public: true, body: true },
  { endpoint: 'POST /api/auth/logout', status: '200', public: true, body: true },
  { endpoint: 'DELETE /api/me', status: '200', public: false, body: true },
  { endpoint: 'GET /api/me/account', status: '200', public: false, body: false },
  { endpoint: 'GET /api/me/second-factor', status: '200', public: false, body: false },
  { endpoint: 'POST /api/me/second-factor', status: '201', public: false, body: true },
  { endpoint: 'POST /api/me/second-factor/confirm', status: '200', public: false, body: true },
  { endpoint: 'POST /api/me/second-factor/recovery-codes', status: '200', public: false, body: true },
  { endpoint: 'POST /api/me/second-factor/remove', status: '200', public: false, body: true },
  { endpoint: 'PUT /api/me/password', status: '200', public: false, body: true },
  { endpoint: 'GET /api/me/sessions', status: '200', public: false, body: false },
  { endpoint: 'DELETE /api/me/sessions', status: '200', public: false, body: false },
  { endpoint: 'DELETE /api/me/sessions/{sessionId}', status: '200', public: false, body: false },
  { endpoint: 'POST /api/auth/password/forgot', status: '202', public: true, body: true },
  { endpoint: 'POST /api/auth/password/reset', status: '200', public: true, body: true },
  { endpoint: 'POST /api/me/email/verification', status: '200,202', public: false, body: false },
  { endpoint: 'POST /api/me/email/verify', status: '200', public: false, body: true },
  { endpoint: 'PUT /api/me/email', status: '202', public: false, body: true },
  { endpoint: 'POST /api/auth/code', status: '201', public: false, body: true },
  { endpoint: 'GET /api/me', status: '200', public: false, body: false },
  { endpoint: 'POST /api/orgs', status: '201', public: false, body: true },
  { endpoint: 'GET /api/orgs/{orgId}', status: '200', public: false, body: false },
  { endpoint: 'GET /api/orgs/{orgId}/members', status: '200', public: false, body: false },
  { endpoint: 'POST /api/orgs/{orgId}/members', status: '201', public: false, body: true },
  { endpoint: 'PATCH /api/orgs/{orgId}/members/{userId}', status: '200', public: false, body: true },
  { endpoint: 'DELETE /api/orgs/{orgId}/members/{userId}', status: '200', public: false, body: false },
  { endpoint: 'GET /api/orgs/{orgId}/members/{userId}', status: '200', public: false, body: false },
  { endpoint: 'PATCH /api/orgs/{orgId}', status: '200', public: false, body: true },
  { endpoint: 'DELETE /api/orgs/{orgId}', status: '200', public: false, body: false },
  { endpoint: 'POST /api/orgs/{orgId}/leave', status: '200', public: false, body: false },
  { endpoint: 'POST /api/orgs/{orgId}/transfer', status: '200', public: false, body: true },
  { endpoint: 'POST /api/orgs/{orgId}/restore', status: '200', public: false, body: false },
  { endpoint: 'GET /api/me/orgs', status: '200', public: false, body: false },
  { endpoint: 'GET /api/me/deleted-orgs', status: '200', public: false, body: false },
  { endpoint: 'GET /api/me/events', status: '200', public: false, body: false },
  { endpoint: 'GET /api/me/export', status: '200', public: false, body: false },
  { endpoint: 'POST /api/auth/introspect', status: '200', public: false, body: true },
  { endpoint: 'GET /api/events', status: '200', public: false, body: false },
  { endpoint: 'GET /api/memberships', status: '200', public: false, body: false },
  { endpoint: 'GET /api/orgs/{orgId}/events', status: '200', public: false, body: false },
  { endpoint: 'POST /api/orgs/{orgId}/invitations', status: '201', public: false, body: true },
  { endpoint: 'GET /api/orgs/{orgId}/invitations', status: '200', public: false, body: false },
  {
    endpoint: 'POST /api/orgs/{orgId}/invitations/{invitationId}/resend',
    status: '200',
    public: false,
    body: true,
  },
  {
    endpoint: 'DELETE /api/orgs/{orgId}/invitations/{invitationId}',
    status: '200',
    public: false,
    body: false,
  },
  { endpoint: 'GET /api/me/invitations', status: '200', public: false, body: false },
  { endpoint: 'POST /api/me/invitations/accept', status: '200', public: false, body: true },
  { endpoint: 'POST /api/me/invitations/decline', status: '200', public: false, body: true },
  { endpoint: 'POST /api/me/invitations/{invitationId}/accept', status: '200', public: false, body: true },
  { endpoint: 'POST /api/me/invitations/{invitationId}/decline', status: '200', public: false, body: true },
  ...[
    'users/{userId}/disable',
    'users/{userId}/enable',
    'users/{userId}/end-sessions',
    'users/{userId}/verify-email',
    'users/{userId}/remove-second-factor',
    'users/{userId}/delete',
    'orgs/{orgId}/owners',
    'orgs/{orgId}/restore',
    'orgs/{orgId}/delete',
    'mails/{mailId}/retry',
    'services/{name}/disable',
    'services/{name}/enable',
  ].map((path) => ({ endpoint: `POST /api/operators/${path}`, status: '200', public: false, body: true })),
  ...[
    'status',
    'users',
    'users/{userId}',
    'users/{userId}/sessions',
    'users/{userId}/orgs',
    'orgs',
    'orgs/{orgId}',
    'orgs/{orgId}/members',
    'events',
    'mails',
    'services',
    'services/{name}',
  ].map((path) => ({ endpoint: `GET /api/operators/${path}`, status: '200', public: false, body: false })),
  { endpoint: 'POST /api/operators/users/{userId}/reset-code', status: '201', public: false, body: true },
];

const service = await startService();
const reader = await DocumentReader.of(service);
const { document } = reader;
afterAll(() => service.stop());

describe('the OpenAPI document', () => {
  const operation = (endpoint: string): Documented => {
    const found = reader.operations.find(({ method, path }) => `${method} ${path}` === endpoint);
    expect(found, endpoint).toBeDefined();
    return found!;
  };
  const resolve = <T extends object>(node: T & { $ref?: string }): T => reader.resolve(node);
  /** An empty requirement among them means that none is needed (OpenAPI 3.0, Security Requirement Object). */
  const tokenIsNeeded = ({ security = document.security ?? [] }: Documented): boolean =>
    security.length > 0 && security.every((need) => Object.keys(need).length > 0);

  it('passes the rules of Spectral without a warning', async () => {
    const linter = new spectral.Spectral();
    // Its own type leaves out that `extends` may be missing, as it is in this ruleset.
    linter.setRuleset({ extends: [[oas as spectral.RulesetDefinition, 'recommended']] });

    const findings = await linter.run(JSON.stringify(document));

    expect(findings.map(({ code, message, path }) => `${code} ${message} ${path.join('.')}`)).toEqual([]);
  });

  it('has these endpoints and no other under /api', () => {
    const documented = Object.entries(document.paths)
      .filter(([path]) => path.startsWith('/api/'))
      .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`));

    expect(documented.toSorted()).toEqual(ENDPOINTS.map(({ endpoint }) => endpoint).toSorted());
  });

  it.each(ENDPOINTS)('describes $endpoint', ({ endpoint, status }) => {
    const { summary, operationId, tags, responses } = operation(endpoint);

    expect(summary).toMatch(/\w+/);
    expect(operationId).toMatch(/\w+/);
    expect(tags).toHaveLength(1);
    const success = Object.keys(responses).filter((code) => code.startsWith('2'));
    expect(success).toEqual(status.split(','));
    for (const one of success) {
      expect(resolve(responses[one]!).content?.['application/json']?.schema).toBeDefined();
    }
  });

  it.each(ENDPOINTS)(
    'names the errors of $endpoint as problem details',
    ({ endpoint, public: open, body }) => {
      const { responses } = operation(endpoint);
      const errors = Object.entries(responses).filter(([code]) => !code.startsWith('2'));

      for (const [code, response] of errors) {
        const { content, description } = resolve(response);
        expect(description, code).toMatch(/\w+/);
        expect(Object.keys(content ?? {}), code).toEqual(['application/problem+json']);
        expect(content!['application/problem+json']!.schema, code).toBeDefined();
      }
      const needed = [
        ...(body ? ['400'] : []),
        ...(open ? [] : ['401']),
        ...(endpoint.includes('{orgId}') ? ['403', '404'] : []),
        ...(/register|login/.test(endpoint) ? ['429'] : []),
      ];
      expect(errors.map(([code]) => code)).toEqual(expect.arrayContaining(needed));
    },
  );

  it.each(ENDPOINTS)('says whether $endpoint needs a token', ({ endpoint, public: open }) => {
    expect(tokenIsNeeded(operation(endpoint))).toBe(!open);
    const schemes = (operation(endpoint).security ?? document.security ?? [])
      .flatMap((need) => Object.keys(need))
      .map((name) => document.components.securitySchemes[name]);
    const expected = /exchange|introspect|memberships|api.events/.test(endpoint) ? 'basic' : 'bearer';
    for (const scheme of schemes) expect(scheme).toMatchObject({ type: 'http', scheme: expected });
  });

  it.each(ENDPOINTS)('gives an example for every field of $endpoint', ({ endpoint, status, body }) => {
    const { requestBody, responses } = operation(endpoint);
    const schemas = [
      ...status.split(',').map((one) => resolve(responses[one]!).content?.['application/json']),
      ...Object.values(requestBody?.content ?? {}),
    ];

    expect(requestBody !== undefined).toBe(body);
    expect(schemas.flatMap((schema) => fieldsWithoutExample(schema, ''))).toEqual([]);
  });

  /** An example may stand at a field or at anything around it. */
  function fieldsWithoutExample(node: unknown, at: string): string[] {
    const schema = resolve((node ?? {}) as Record<string, unknown>);
    if ('example' in schema || 'examples' in schema || 'enum' in schema) return [];
    if (schema['schema']) return fieldsWithoutExample(schema['schema'], at);
    if (Array.isArray(schema['oneOf']))
      return schema['oneOf'].flatMap((one) => fieldsWithoutExample(one, at));
    if (Array.isArray(schema['allOf']))
      return schema['allOf'].flatMap((part) => fieldsWithoutExample(part, at));
    if (schema['type'] === 'array') return fieldsWithoutExample(schema['items'], `${at}[]`);
    const properties = Object.entries(schema['properties'] ?? {});
    if (properties.length === 0) return [at || '(everything)'];
    return properties.flatMap(([name, property]) => fieldsWithoutExample(property, `${at}.${name}`));
  }

  it('begins no text with a fragment that only its neighbours complete', () => {
    const texts = [
      ...JSON.stringify(document).matchAll(/"(?:summary|description|detail)":"((?:[^"\\]|\\.)*)"/g),
    ].map(([, text]) => text!);
    const fragment = /^(?:also|as|for|in|of|those|until|what|when|where|who|whom|with)\b/i;

    expect(texts.length).toBeGreaterThan(300);
    expect(texts.filter((text) => fragment.test(text))).toEqual([]);
  });

  it('names schemas after what they are', () => {
    const names = Object.keys(document.components.schemas);

    expect(names.filter((name) => /Dto|Response/.test(name))).toEqual([]);
    const enumsWithOwner = [...schemasIn(document)].filter(({ enum: values }) => values?.includes('owner'));
    expect(enumsWithOwner).toEqual([document.components.schemas['Role']]);
  });

  it('gives each failure a schema with exactly the codes of its examples', () => {
    for (const { operationId, responses } of reader.operations) {
      for (const [status, response] of Object.entries(responses)) {
        if (status.startsWith('2')) continue;
        const { content } = resolve(response);
        const schema = content!['application/problem+json']!.schema!;
        const codes = (schema.oneOf ?? [schema]).flatMap((one) => {
          const [general, own] = resolve(one).allOf ?? [];
          expect(general).toEqual({ $ref: '#/components/schemas/Problem' });
          return own!.properties!['code']!.enum!;
        });
        const examples = reader.problemsOf(resolve(response));
        expect(examples, `${operationId} ${status}`).toEqual(
          codes.map((code) => [code, expect.objectContaining({ code, status: Number(status) })]),
        );
      }
    }
  });

  it('gives every string a format, pattern or length', () => {
    const loose = [...schemasIn(document)].filter(
      ({ type, enum: values, format, pattern, minLength }) =>
        type === 'string' && !values && !format && !pattern && !minLength,
    );
    expect(loose).toEqual([]);
  });

  it('keeps an operation shorter than two screens', () => {
    const long = reader.operations
      .map(({ operationId, path, method }) => {
        const text = JSON.stringify(document.paths[path]![method.toLowerCase()], null, 2);
        return [operationId, text.split('\n').length] as const;
      })
      .filter(([, lines]) => lines > 115);
    expect(long).toEqual([]);
  });

  it('fills in nothing that a caller has to know or need not send', () => {
    const filled = reader.operations.flatMap(({ operationId, parameters = [] }) =>
      parameters
        .map((parameter) => resolve(parameter) as { name: string; example?: unknown; schema: Schema })
        .filter(({ example, schema }) => example !== undefined || schema.example !== undefined)
        .map(({ name }) => `${operationId} ${name}`),
    );
    expect(filled).toEqual([]);
  });

  it('begins with the first requests of the README', async () => {
    const readme = await readFile('README.md', 'utf8');
    const sent = [...readme.matchAll(/^.*json \$BASE(\S*) .*-d '(\{.*?\})'/gm)].map(
      ([, path, body]) => [path, JSON.parse(body!)] as const,
    );
    const exampleOf = (endpoint: string, name?: string): unknown =>
      reader.requestExampleOf(operation(endpoint), name);

    expect(sent.slice(0, 3)).toEqual([
      ['/api/auth/register', exampleOf('POST /api/auth/register')],
      ['/api/auth/register', exampleOf('POST /api/auth/register', 'grace')],
      ['/api/orgs', exampleOf('POST /api/orgs')],
    ]);
    expect(exampleOf('POST /api/orgs/{orgId}/members')).toMatchObject({ email: 'grace@example.com' });
    expect(exampleOf('POST /api/auth/login')).toEqual(exampleOf('POST /api/auth/register'));
    expect(exampleOf('POST /api/auth/logout')).toEqual({});
  });

  it('lists paths in the order in which one needs them, and schemas by name', () => {
    const firstOf = (tag: string): string | undefined => {
      const found = reader.operations.find(({ tags = [] }) => tags.includes(tag));
      return found && `${found.method} ${found.path}`;
    };
    expect(firstOf('Auth')).toBe('POST /api/auth/register');
    expect(firstOf('Me')).toBe('GET /api/me');
    expect(firstOf('Organizations')).toBe('POST /api/orgs');
    expect(firstOf('Operators')).toBe('GET /api/operators/status');
    const names = Object.keys(document.components.schemas);
    expect(names).toEqual(names.toSorted());
  });

  it('names path parameters like the corresponding fields', () => {
    const names = new Set(
      reader.operations.flatMap(({ parameters = [] }) =>
        parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name),
      ),
    );
    const known = ['orgId', 'userId', 'sessionId', 'invitationId', 'mailId', 'name'];
    expect(names).toEqual(new Set(known));
    expect(Object.keys(document.components.schemas['Member']!.properties!)).toContain('userId');
  });

  it('lists the endpoints for operators last', () => {
    expect(document.tags.at(-1)).toMatchObject({ name: 'Health' });
    expect(document.tags.map(({ name }) => name).toSorted()).toEqual(
      [...new Set(reader.operations.flatMap(({ tags = [] }) => tags))].toSorted(),
    );
  });

  it('requires a token for every endpoint that is not public', async () => {
    for (const [path, methods] of Object.entries(document.paths).filter(([name]) =>
      name.startsWith('/api/'),
    )) {
      for (const [method, documented] of Object.entries(methods)) {
        const answer = await service.anyone.send(method.toUpperCase(), path.replaceAll(/\{\w+\}/g, 'x'));
        // In place of a token it takes a refresh token, and has neither here.
        const isNeeded = tokenIsNeeded(documented) || path === '/api/auth/logout';
        expect([path, answer.status === 401]).toEqual([path, isNeeded]);
      }
    }
  });
});
