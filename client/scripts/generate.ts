import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { comment, literals, nameOf, type Schema, typeOf } from './typescript-of.ts';

const DOCUMENT = join(import.meta.dirname, '../../docs/openapi.json');
export const GENERATED = join(import.meta.dirname, '../src/api.gen.ts');

/** Only browsers follow a redirect to a program. */
const FOR_BROWSERS = '303';

interface Parameter {
  $ref?: string;
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  description?: string;
  schema: Schema;
}
type Content = Record<string, { schema: Schema }>;
type Answer = { $ref?: string; content?: Content };
interface Operation {
  operationId: string;
  summary?: string;
  description?: string;
  parameters?: Parameter[];
  requestBody?: { content: Content };
  responses: Record<string, Answer>;
  security?: Record<string, unknown>[];
}
interface Components {
  schemas: Record<string, Schema>;
  parameters: Record<string, Parameter>;
  responses: Record<string, Answer>;
}
type Paths = Record<string, Record<string, Operation>>;

/** The module with the types and the table of all operations. */
export function generate(text = readFileSync(DOCUMENT, 'utf8')): string {
  const { paths, components } = JSON.parse(text) as { paths: Paths; components: Components };
  const parts = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { responses }]) => !(FOR_BROWSERS in responses))
      .map(([method, one]) => partsOf(method.toUpperCase(), path, one, components)),
  );
  const idsOf = (callers: Callers): string =>
    literals(parts.filter((one) => one.callers === callers).map(({ id }) => id));
  const schemas = Object.entries(components.schemas).map(([name, schema]) => {
    const type = typeOf(schema, name.endsWith('Request'));
    return `${comment(schema.description)}export type ${name} = ${type};`;
  });
  const all = [
    '// Made from docs/openapi.json by `npm run client:types`. Do not edit.',
    "import type { At, Route } from './operation.ts';",
    ...schemas,
    `/** Every operation of the service: what it takes, what it answers, and how it refuses. */\nexport interface Operations {\n${parts.map(({ type }) => type).join('\n')}\n}`,
    `/** Operators call these by \`createAdminClient\`. */\nexport type AdminOperationId = ${idsOf('admin')};`,
    `/** Services call these by \`createServiceClient\`. */\nexport type ServiceOperationId = ${idsOf('service')};`,
    `export const ROUTES: Readonly<Record<keyof Operations, Route>> = {\n${parts.map(({ route }) => route).join('\n')}\n};`,
  ];
  return all.map((part) => `${indented(part)}\n`).join('\n');
}

function indented(text: string): string {
  let depth = 0;
  return text.replaceAll(/^(\}?)(.*?)(\{?)$/gm, (line: string, closes: string, _: string, opens: string) => {
    const indent = '  '.repeat(depth - closes.length);
    depth += opens.length - closes.length;
    return `${indent}${line}`;
  });
}

function partsOf(method: string, path: string, operation: Operation, components: Components) {
  const parameters = (operation.parameters ?? []).map((one) =>
    one.$ref === undefined ? one : components.parameters[nameOf(one.$ref)]!,
  );
  const answers = Object.entries(operation.responses).map(([status, answer]) => {
    const { content = {} } = answer.$ref === undefined ? answer : components.responses[nameOf(answer.$ref)]!;
    return { status: Number(status), schema: Object.values(content)[0]?.schema };
  });
  const successes = answers.filter(({ status }) => status < 400).flatMap(({ schema }) => schema ?? []);
  const branches = successes.flatMap((schema) => branchesOf(schema, components));
  const offered = branches.map(({ required = [] }) => required);
  const members = branches.map(({ properties = {} }) => properties);
  const failures = answers.flatMap(({ status, schema }) =>
    status < 400 || !schema ? [] : { status, schema },
  );
  const [mediaType, body] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  const placed = parameters.filter((one) => one.in !== 'header');
  const fields = branchesOf(body?.schema ?? {}, components).map(({ properties = {} }) => properties);
  const clashes = placed.some(({ name }) => fields.some((properties) => name in properties));
  const inputs = [
    ...(placed.length > 0 ? [inputOf(placed)] : []),
    ...(body === undefined ? [] : [clashes ? `{ body: ${typeOf(body.schema)} }` : typeOf(body.schema)]),
  ];
  const takes = (header: string): boolean => parameters.some(({ name }) => name === header);
  const query = placed.filter((one) => one.in === 'query').map(({ name }) => name);
  const schemes = (operation.security ?? []).map((one) => Object.keys(one)[0]);
  const auth = schemes.find((scheme) => scheme !== undefined);
  // JSON leaves out what is undefined.
  const route = {
    method,
    path,
    query: query.length > 0 ? query : undefined,
    body: mediaType && (mediaType.includes('json') ? 'json' : 'form'),
    fields: mediaType && [...new Set(fields.flatMap((properties) => Object.keys(properties)))],
    wrapped: clashes || undefined,
    auth,
    anonymous: (auth && schemes.includes(undefined)) || undefined,
    keyed: takes('Idempotency-Key') || undefined,
    conditional: takes('If-Match') || undefined,
    repeatable: method === 'GET' || takes('Idempotency-Key') || undefined,
    callers: callersOf(path, operation.operationId, auth),
    opensSession:
      members.some((properties) => 'refreshToken' in properties && 'user' in properties) || undefined,
    answer: inAll(offered),
    codes: failures.flatMap(({ schema }) => codesOf(schema, components)).join(' '),
  };
  // The client refreshes the login first.
  const ofRefresh = auth === 'bearer' && !route.anonymous ? ['Operations["refresh"]["problem"]'] : [];
  const problems = failures.map(({ status, schema }) => `At<${status}, ${typeOf(schema)}>`).concat(ofRefresh);
  const type = [
    `${comment([operation.summary, operation.description].filter(Boolean).join('. '))}${operation.operationId}: {`,
    `input: ${inputs.join(' & ') || 'undefined'};`,
    `data: ${[...new Set(successes.map((schema) => typeOf(schema)))].join(' | ') || 'Record<string, unknown>'};`,
    `problem: ${problems.join(' | ') || 'never'};`,
    `headers: ${literals(['Idempotency-Key', 'If-Match'].filter(takes))};`,
    '};',
  ];
  const { operationId: id } = operation;
  return {
    id,
    callers: route.callers,
    type: type.join('\n'),
    route: `${operation.operationId}: ${JSON.stringify(route)},`,
  };
}

type Callers = 'admin' | 'service';

/** Undefined means clients. A one-time code may be exchanged without credentials, but not by the client that issued it. */
function callersOf(path: string, id: string, auth: string | undefined): Callers | undefined {
  if (path.startsWith('/api/operators')) return 'admin';
  return auth === 'basic' || id === 'exchangeCode' ? 'service' : undefined;
}

/** Path and query as one object. */
function inputOf(parameters: Parameter[]): string {
  const properties = parameters.map(({ name, description, schema }) => [name, { ...schema, description }]);
  const required = parameters.filter((one) => one.required).map(({ name }) => name);
  return typeOf({ properties: Object.fromEntries(properties) as Record<string, Schema>, required }, true);
}

/** The one schema, or all those that it consists of or offers. */
function branchesOf(schema: Schema, components: Components): Schema[] {
  if (schema.$ref !== undefined) return branchesOf(components.schemas[nameOf(schema.$ref)]!, components);
  return schema.oneOf ? schema.oneOf.flatMap((one) => branchesOf(one, components)) : [schema];
}

function inAll([first = [], ...others]: string[][]): string[] {
  return first.filter((name) => others.every((names) => names.includes(name)));
}

function codesOf(schema: Schema, components: Components): unknown[] {
  const parts = branchesOf(schema, components).flatMap(({ allOf = [] }) => allOf);
  return parts.flatMap(({ properties }) => properties?.['code']?.enum ?? []);
}

if (process.argv[1] === import.meta.filename) writeFileSync(GENERATED, generate());
