import { afterAll, describe, expect, it } from 'vitest';
import { SERVICE_SCOPES } from '../../src/access/principal.js';
import { type DocumentedOperation, DocumentReader } from '../openapi/documented.js';
import type { Caller } from '../support/caller.js';
import { anOperator } from '../support/operators.js';
import { anAccount, anOrgOf, anUnknownId } from '../support/personas.js';
import { startService } from '../support/service.js';
import { aServiceCaller } from '../support/services.js';

const NAMES = 'toString valueOf toJSON toLowerCase length then hasOwnProperty inspect'.split(' ');

const withNames = (valueOf: (name: string) => unknown): object =>
  Object.fromEntries(NAMES.map((name) => [name, valueOf(name)]));

/** As deep as a body may be. */
const nested = (wrap: (inner: string) => string): unknown =>
  JSON.parse(Array.from({ length: 8 }).reduce<string>((inner) => wrap(inner), '"x"'));

/** In place of a text, a flag or a time. */
const VALUES = (
  JSON.parse(String.raw`[
    null, true, 0, -1, 1e308, "", " ", "\u0000", "\ud800", "\ud83d\ude00", "__proto__", "constructor",
    [], {}, [null], ["a"], [[]], [{ "toString": "x" }], { "0": "a", "length": 1 }, { "type": "Buffer", "data": [1] },
    { "toString": "x" }, { "valueOf": "x" }, { "length": 5 }, { "then": "x" }, { "prototype": 1 }
  ]`) as unknown[]
).concat(
  withNames(() => null),
  withNames((name) => ({ [name]: 1 })),
  nested((inner) => `[${inner}]`),
  nested((inner) => `{"toString":${inner}}`),
  nested((inner) => `{"then":${inner}}`),
);
const LONG_VALUES = ['x'.repeat(5000), Array.from({ length: 2000 }, () => 0)];

const BODIES = [
  ...'{"__proto__":{"a":1}} {"\\u005f_proto__":1} {"constructor":1} {"a":1,"a":2} { [] "x" 1 null'.split(' '),
  '{"email":{"__proto__":1}}',
  '['.repeat(4000),
  '{"a":'.repeat(2000),
  '',
];
const IDS = ['x'.repeat(300), ...'%00 [] __proto__ toString %27%20OR%201=1--'.split(' ')];
const TEXTS = ['', 'x'.repeat(1500), ...'-1 1e9 %ff %ed%a0%80 2026-13-45T99:99:99Z'.split(' '), ...IDS];
const HEADERS = ['', '"1", "2"', 'x'.repeat(3000), ...'" * "x" W/"1" ,,, "" "\\" __proto__'.split(' ')];

const LIMITS = 'REGISTER LOGIN IP FAILED_LOGINS LOOKUP FORGOT CODE EXPORT WRITES'.split(' ');

// No limit is reached, but each reads what it counts by.
const service = await startService({
  env: Object.fromEntries(LIMITS.map((name) => [`RATE_LIMIT_${name}`, '9999/1s'])),
});
afterAll(() => service.stop());
const reader = await DocumentReader.of(service);

const contentOf = ({ requestBody }: DocumentedOperation) => Object.entries(requestBody?.content ?? {})[0];
const typeOf = (operation: DocumentedOperation): string => contentOf(operation)?.[0] ?? 'application/json';

function fieldsOf(operation: DocumentedOperation): string[] {
  const schema = contentOf(operation)?.[1].schema;
  return Object.keys((schema && reader.resolve(schema).properties) ?? {});
}

const ALL_FIELDS = [...new Set([...reader.operations.flatMap(fieldsOf), ...NAMES])];

interface Sender {
  by: Caller;
  ids: Record<string, string>;
}

async function senderOf({ path, security = [] }: DocumentedOperation): Promise<Sender> {
  const takes = (scheme: string): boolean => security.some((one) => scheme in one);
  if (takes('basic')) return { by: await aServiceCaller(service, ...SERVICE_SCOPES), ids: {} };
  if (!takes('bearer')) return { by: service.anyone, ids: {} };
  const owner = await anAccount(service);
  const ids = { orgId: (await anOrgOf(owner)).id, userId: owner.id };
  return { by: path.startsWith('/api/operators') ? await anOperator(service) : owner, ids };
}

interface OddRequest {
  path: string;
  body: string | undefined;
  headers?: Record<string, string>;
}

function encode(operation: DocumentedOperation, body: object): string {
  if (typeOf(operation) === 'application/json') return JSON.stringify(body);
  const texts = Object.entries(body).map(([field, value]): [string, string] => [
    field,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  return new URLSearchParams(texts).toString();
}

function oddBodiesFor(operation: DocumentedOperation, sample: object): string[] {
  const oddFields = fieldsOf(operation).flatMap((field) =>
    [...VALUES, ...LONG_VALUES].map((value) => Object.assign({}, sample, { [field]: value })),
  );
  const fieldsOfOthers = VALUES.map((value) =>
    Object.assign(Object.fromEntries(ALL_FIELDS.map((field) => [field, value])), sample),
  );
  return [...[...oddFields, ...fieldsOfOthers].map((body) => encode(operation, body)), ...BODIES];
}

function oddRequestsTo(operation: DocumentedOperation): OddRequest[] {
  const { method, path, parameters = [] } = operation;
  const sample = reader.requestExampleOf(operation) ?? {};
  const body = method === 'GET' ? undefined : encode(operation, sample);
  const bodies = method === 'GET' ? [] : oddBodiesFor(operation, sample);
  const odd = parameters
    .map((parameter) => reader.resolve(parameter))
    .flatMap(({ name, in: place }): OddRequest[] => {
      if (place === 'header') return HEADERS.map((value) => ({ path, body, headers: { [name]: value } }));
      if (place === 'path') return IDS.map((id) => ({ path: path.replace(`{${name}}`, id), body }));
      const names = [`${name}[toString]`, `${name}[]`, `${name}[__proto__]`, `${name}=a&${name}`];
      return [...TEXTS.map((text) => `${name}=${text}`), ...names.map((one) => `${one}=1`)].map((query) => ({
        path: `${path}?${query}`,
        body,
      }));
    });
  const query = '__proto__=1&toString=1&constructor=1&hasOwnProperty=1';
  return [...bodies.map((one) => ({ path, body: one })), ...odd, { path: `${path}?${query}`, body }];
}

describe('an odd value', () => {
  it.each(reader.operations)('is the fault of the request, to $endpoint', async (operation) => {
    const requests = oddRequestsTo(operation);
    let { by, ids } = await senderOf(operation);
    const faults: string[] = [];
    for (const { path, body, headers } of requests) {
      const at = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? anUnknownId());
      const { status } = await by.send(operation.method, at, {
        headers: { 'content-type': typeOf(operation), ...headers },
        ...(body !== undefined && { body }),
      });
      if (status >= 500) faults.push(`${status} for ${path} ${body ?? ''}`.slice(0, 200));
      // The request may have ended the session of its sender.
      if (status === 401 && by.token) ({ by, ids } = await senderOf(operation));
    }
    expect(faults.slice(0, 5), `${faults.length} of ${requests.length} requests`).toEqual([]);
  });
});
