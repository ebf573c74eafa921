import type { OpenAPIObject } from '@nestjs/swagger';
import { type ProblemCode, PROBLEMS } from '#src/problems/problem-codes';
import type { Schema, SchemaObject } from '#src/openapi/decorators';
import { type Operation, operationsOf, type Schemas } from './document-parts.ts';
import { DESCRIPTIONS } from './texts.ts';
import { schemaName } from './problem-schemas.ts';

const NOUNS: [schema: RegExp, noun: string][] = [
  [/Event$/, 'event'],
  [/ApiKey$/, 'API key'],
  [/Invitation/, 'invitation'],
  [/Session/, 'session'],
  [/Secret/, 'secret'],
  [/Email/, 'email'],
  [/org/i, 'organization'],
  [/User|Account/, 'user'],
];

export function describeSchemas(document: OpenAPIObject): void {
  const schemas = document.components?.schemas ?? {};
  const bodies = new Map(operationsOf(document).map((operation) => [bodySchemaOf(operation), operation]));
  for (const [name, schema] of Object.entries(schemas)) {
    if ('$ref' in schema) continue;
    const summary = bodies.get(name)?.summary;
    const body = summary && `Body of the operation "${summary}".`;
    const written = DESCRIPTIONS[name] ?? PROBLEM_MEANINGS.get(name) ?? schema.description ?? body;
    schemas[name] = { ...withProperties(name, schema), ...(written && { description: written }) };
  }
}

const PROBLEM_MEANINGS = new Map(
  (Object.keys(PROBLEMS) as ProblemCode[]).map((code) => [schemaName(code), `${PROBLEMS[code].meaning}.`]),
);

const bodySchemaOf = ({ requestBody }: Operation): string | undefined =>
  /schemas\/(\w+)"/.exec(JSON.stringify(requestBody ?? {}))?.[1];

function withProperties(owner: string, schema: SchemaObject): SchemaObject {
  const { properties, items, allOf } = schema;
  const inner = (name: string, one: Schema): Schema => ('$ref' in one ? one : withProperties(name, one));
  const entries = Object.entries(properties ?? {}).map(([name, property]) => {
    if ('$ref' in property) return [name, property];
    const description = property.description ?? DESCRIPTIONS[`${owner}.${name}`] ?? DESCRIPTIONS[name];
    const id = name === 'id' ? `Id of the ${NOUNS.find(([form]) => form.test(owner))?.[1]}.` : undefined;
    return [name, { ...withProperties(name, property), description: description ?? id }];
  });
  return {
    ...schema,
    ...(properties && { properties: Object.fromEntries(entries) as Schemas }),
    ...(items && { items: inner(owner, items) }),
    ...(allOf && { allOf: allOf.map((one) => inner(owner, one)) }),
  };
}
