import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { GENERATED, generate } from '../scripts/generate.ts';
import { createClient, memoryStore } from '../src/index.ts';

const DOCUMENT = new URL('../../docs/openapi.json', import.meta.url);

interface Document {
  paths: Record<string, Record<string, { operationId: string }>>;
}

it('has the types of the OpenAPI document; if not: npm run client:types makes them', () => {
  expect(readFileSync(GENERATED, 'utf8')).toBe(generate());
});

it('has a method for every operation', () => {
  const { paths } = JSON.parse(readFileSync(DOCUMENT, 'utf8')) as Document;
  const ids = Object.values(paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  );
  const client = createClient({ baseUrl: 'http://127.0.0.1', store: memoryStore() });

  expect(ids.length).toBeGreaterThanOrEqual(50);
  expect(Object.keys(client)).toEqual(expect.arrayContaining(ids));
});

it('names the option that is no URL', () => {
  const options = { baseUrl: 'accounts', store: memoryStore() };
  expect(() => createClient(options)).toThrow(new TypeError('baseUrl must be the URL of Accounts'));
});

it.each<[string, object]>([
  ['createClient does not take "timeout"', { timeout: 5 }],
  ['credentials do not take "key"', { credentials: { name: 'billing', secret: 's', key: 'k' } }],
  ['credentials.name must be a name', { credentials: { secret: 's' } }],
  [
    'credentials.secret must be a secret, or a function that returns it',
    { credentials: { name: 'billing', secret: ' \n' } },
  ],
])('throws an error that says: %s', (message, wrong) => {
  const options = { baseUrl: 'http://127.0.0.1', store: memoryStore(), ...wrong };
  expect(() => createClient(options)).toThrow(new TypeError(message));
});

it('puts a body whose fields have names of parameters into a member of its own', () => {
  const made = generate(
    JSON.stringify({
      paths: {
        '/orgs/{userId}': {
          post: {
            operationId: 'nameBoth',
            parameters: [{ name: 'userId', in: 'path', required: true, schema: { type: 'string' } }],
            requestBody: {
              content: { 'application/json': { schema: { $ref: '#/components/schemas/Named' } } },
            },
            responses: { 200: { content: { 'application/json': { schema: { type: 'object' } } } } },
          },
        },
      },
      components: {
        schemas: { Named: { type: 'object', properties: { userId: { type: 'string' } } } },
        parameters: {},
        responses: {},
      },
    }),
  );

  expect(made).toContain('} & { body: Named };');
  expect(made).toContain('"wrapped":true');
  expect(made).toContain('"fields":["userId"]');
});
