import { readFile } from 'node:fs/promises';
import spectral from '@stoplight/spectral-core';
import { oas } from '@stoplight/spectral-rulesets';
import { afterAll, describe, expect, it } from 'vitest';
import { contract, escapePointer } from '../support/contract.js';
import { startService } from '../support/service.js';
import {
  type Documented,
  type DocumentedResponse,
  DocumentReader,
  type Schema,
  schemasIn,
} from './documented.js';

const service = await startService();
const reader = await DocumentReader.of(service);
const { document } = reader;
const endpoints = reader.operations.filter(({ path }) => path.startsWith('/api/'));
afterAll(() => service.stop());

describe('the OpenAPI document', () => {
  it('is the one in the repository; if not: npm run openapi writes it', async () => {
    await expect(`${JSON.stringify(document, null, 2)}\n`).toMatchFileSnapshot('../../docs/openapi.json');
  });

  const operation = (endpoint: string): Documented => endpoints.find((one) => one.endpoint === endpoint)!;
  const resolve = <T extends object>(node: T & { $ref?: string }): T => reader.resolve(node);
  /** An empty requirement among them means that none is needed (OpenAPI 3.0, Security Requirement Object). */
  const tokenIsNeeded = ({ security = document.security ?? [] }: Documented): boolean =>
    security.length > 0 && security.every((need) => Object.keys(need).length > 0);

  it('passes the rules of Spectral without a warning', async () => {
    const linter = new spectral.Spectral();
    linter.setRuleset({
      // Its own type leaves out that `extends` may be missing, as it is in this ruleset.
      extends: [[oas as spectral.RulesetDefinition, 'recommended']],
      // They take ten times as long as all others, and the next test does the same.
      rules: { 'oas3-valid-media-example': 'off', 'oas3-valid-schema-example': 'off' },
    });
    const findings = await linter.run(JSON.stringify(document));
    expect(findings.map(({ code, message, path }) => `${code} ${message} ${path.join('.')}`)).toEqual([]);
  });

  it('shows examples that are valid by their schemas', () => {
    const shown = [...examplesIn(document)];
    const faults = shown.map(({ at, schema, example }) => [at, contract.faults(`open#${schema}`, example)]);
    expect(faults.filter(([, fault]) => fault !== undefined)).toEqual([]);
    expect(shown.length).toBeGreaterThan(500);
  });

  interface Shown {
    at: string;
    /** JSON pointers into the document, like `at` */
    schema: string;
    example: unknown;
  }

  /** Of each schema its `example`, and of what has a schema its `example` and `examples`. */
  function* examplesIn(node: unknown, at = ''): Generator<Shown> {
    if (typeof node !== 'object' || node === null) return;
    const { schema, type, example, examples = {} } = node as Record<string, object | undefined>;
    const pointer = schema ? `${at}/schema` : at;
    const isShown = schema !== undefined || typeof type === 'string' || '$ref' in node || 'allOf' in node;
    if (isShown && example !== undefined) yield { at, schema: pointer, example };
    if (schema) {
      for (const [name, one] of Object.entries(examples) as [string, { $ref?: string; value?: unknown }][])
        yield { at: `${at}/examples/${name}`, schema: pointer, example: resolve(one).value };
    }
    for (const [key, inner] of Object.entries(node)) {
      if (!['example', 'examples'].includes(key)) yield* examplesIn(inner, `${at}/${escapePointer(key)}`);
    }
  }

  it.each(endpoints)(
    'describes $endpoint, its errors as problem details, and its credentials',
    (documented) => {
      const { endpoint, summary, operationId, tags, requestBody, responses, security } = documented;
      expect(summary).toMatch(/\w+/);
      expect(operationId).toMatch(/\w+/);
      expect(tags).toHaveLength(1);
      const [successes, errors] = [true, false].map((isSuccess) =>
        Object.entries(responses).filter(([code]) => Number(code) < 400 === isSuccess),
      ) as [[string, DocumentedResponse][], [string, DocumentedResponse][]];
      expect(successes).not.toEqual([]);
      // A redirect has no content, and a browser that gets none sees a page.
      const contents = successes.flatMap(([code, response]) =>
        code === '303' ? [] : resolve(response).content,
      );
      const type = '303' in responses ? 'text/plain' : 'application/json';
      for (const content of contents) {
        expect(Object.keys(content ?? {})).toEqual([type]);
        expect(Object.values(content ?? {})[0]!.schema).toBeDefined();
      }
      for (const [code, response] of errors) {
        const { content, description } = resolve(response);
        expect(description, code).toMatch(/\w+/);
        expect(Object.keys(content ?? {}), code).toEqual(['application/problem+json']);
        expect(content!['application/problem+json']!.schema, code).toBeDefined();
      }
      const needed = [
        ...(requestBody ? ['400'] : []),
        ...(tokenIsNeeded(documented) ? ['401'] : []),
        ...(endpoint.includes('{orgId}') ? ['403', '404'] : []),
        ...(/register|login/.test(endpoint) ? ['429'] : []),
      ];
      expect(errors.map(([code]) => code)).toEqual(expect.arrayContaining(needed));
      const scheme = /exchange|introspect|auth.token|memberships|directory|api.events/.test(endpoint)
        ? 'basic'
        : 'bearer';
      for (const name of (security ?? document.security ?? []).flatMap((need) => Object.keys(need)))
        expect(document.components.securitySchemes[name]).toMatchObject({ type: 'http', scheme });
    },
  );

  it.each(endpoints)('gives an example for every field of $endpoint', ({ requestBody, responses }) => {
    const schemas = [
      ...Object.entries(responses).flatMap(([code, response]) =>
        code.startsWith('2') ? Object.values(resolve(response).content ?? {}) : [],
      ),
      ...Object.values(requestBody?.content ?? {}),
    ];
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

  it('names schemas after what they are', () => {
    const names = Object.keys(document.components.schemas);
    expect(names.filter((name) => /Dto|Result|Page$|^Listed|^Shown/.test(name))).toEqual([]);
    const enumsWithOwner = [...schemasIn(document)].filter(({ enum: values }) => values?.includes('owner'));
    expect(enumsWithOwner).toEqual([document.components.schemas['Role']]);
  });

  it('gives each failure a schema with exactly the codes of its examples', () => {
    for (const { operationId, responses } of reader.operations) {
      for (const [status, response] of Object.entries(responses)) {
        if (Number(status) < 400) continue;
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

    expect(sent).toEqual([
      ['/api/auth/register', exampleOf('POST /api/auth/register')],
      ['/api/orgs', exampleOf('POST /api/orgs')],
    ]);
    expect(exampleOf('POST /api/orgs/{orgId}/members')).toMatchObject({ email: 'grace@example.com' });
    expect(exampleOf('POST /api/auth/login')).toEqual(exampleOf('POST /api/auth/register'));
    expect(exampleOf('POST /api/auth/logout')).toEqual({});
  });

  it('lists paths in the order in which one needs them, and schemas by name', () => {
    const firsts = ['Authentication', 'User', 'Organizations', 'Admin: Users'].map(
      (tag) => reader.operations.find(({ tags = [] }) => tags.includes(tag))?.endpoint,
    );
    const operators = 'GET /api/operators/users';
    expect(firsts).toEqual(['POST /api/auth/register', 'GET /api/me', 'POST /api/orgs', operators]);
    expect(document.tags.at(-1)).toMatchObject({ name: 'Admin: Status' });
    const tags = new Set(reader.operations.flatMap((one) => one.tags ?? []));
    expect(new Set(document.tags.map(({ name }) => name))).toEqual(tags);
    const names = Object.keys(document.components.schemas);
    expect(names).toEqual(names.toSorted());
  });

  it('names path parameters like the corresponding fields', () => {
    const parameters = reader.operations.flatMap((one) => one.parameters ?? []);
    const names = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
    const known = ['orgId', 'userId', 'sessionId', 'invitationId', 'keyId', 'mailId', 'name', 'to'];
    expect(new Set(names)).toEqual(new Set(known));
  });
});

describe('what the document promises', () => {
  const takesForm = (requestBody: { content: object } = { content: {} }): boolean =>
    'application/x-www-form-urlencoded' in requestBody.content;

  /** The caller checks each answer against the document. */
  it.each([
    ['malformed_json', 'application/json', '['],
    ['body_too_large', 'application/json', ' '.repeat(17_000)],
    ['unsupported_media_type', 'text/plain', 'text'],
  ])('documents %s for every operation that reads a body', async (code, type, body) => {
    for (const { method, path, operationId, requestBody } of reader.operations) {
      if (method === 'GET') continue;
      if (code === 'malformed_json' && takesForm(requestBody)) continue;
      const request = { headers: { 'content-type': type }, body };
      const answer = await service.anyone.send(method, path.replaceAll(/\{\w+\}/g, 'x'), request);
      expect(answer.body, operationId).toMatchObject({ code });
    }
  });

  it('documents validation_failed for every operation with a query', () => {
    const withQuery = reader.operations.filter(({ parameters = [] }) =>
      parameters.some((parameter) => reader.resolve(parameter).in === 'query'),
    );
    const codesOf = ({ responses }: Documented) =>
      reader.problemsOf(reader.resolve(responses['400'] ?? {})).map(([code]) => code);
    const without = withQuery.filter((one) => !codesOf(one).includes('validation_failed'));
    expect(withQuery.length).toBeGreaterThan(10);
    expect(without.map(({ operationId }) => operationId)).toEqual([]);
  });
});
