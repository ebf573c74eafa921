import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { DESCRIPTIONS } from '../../tooling/openapi/texts.js';
import {
  type Document,
  type Documented,
  type DocumentedResponse,
  DocumentReader,
  type Schema,
} from '../openapi/documented.js';
import { typeErrors } from '../pages/support/page-program.js';

interface Described {
  description?: string;
  'x-codeSamples'?: { lang: string; source: string }[];
}

const document = JSON.parse(readFileSync('docs/openapi.json', 'utf8')) as Document;
const reader = new DocumentReader(document);
const operations = reader.operations as (Documented & Described & { endpoint: string })[];
const directory = mkdtempSync(join(tmpdir(), 'samples-'));
afterAll(() => rmSync(directory, { recursive: true }));

const isSentence = (text: unknown): boolean =>
  typeof text === 'string' && /^[A-Z`](?:.|\n)*[.!?]$/.test(text) && !text.startsWith('`');

/** A reference has the description of its schema. */
function undescribed(name: string, schema: Schema): string[] {
  const { properties = {}, items, allOf = [] } = schema;
  const own = Object.entries(properties).filter(([, inner]) => !inner.$ref);
  return [
    ...own
      .filter(([, inner]) => !isSentence(inner['description']))
      .map(([property]) => `${name}.${property}`),
    ...own.flatMap(([property, inner]) => undescribed(`${name}.${property}`, inner)),
    ...[...(items ? [items] : []), ...allOf].flatMap((inner) => undescribed(name, inner)),
  ];
}

const successesOf = (operation: Documented): [string, DocumentedResponse][] =>
  reader.responsesOf(operation).filter(([status]) => status.startsWith('2'));

describe('the texts of the OpenAPI document', () => {
  it('is OpenAPI 3.0.4, with operation ids that are unique', () => {
    expect(document.openapi).toBe('3.0.4');
    const ids = operations.map(({ operationId }) => operationId);
    expect(ids).toEqual([...new Set(ids)]);
  });

  it('summarizes operations in at most six words, without a full stop', () => {
    const bad = operations
      .map(({ summary = '' }) => summary)
      .filter((summary) => !/^[A-Z][^.]*$/.test(summary) || summary.split(' ').length > 6);
    expect(bad).toEqual([]);
  });

  it('describes the purpose of operations first, and then what they require', () => {
    const bad = operations.filter(({ description = '' }) => {
      const [purpose, requires, ...others] = description.split('\n\n');
      const isRequirement = /^\*\*Requires:\*\* [^.]+\.$/.test(requires ?? '');
      return !isRequirement || ![purpose, ...others].every(isSentence);
    });
    expect(bad.map(({ operationId }) => operationId)).toEqual([]);
  });

  it('describes schemas and properties in sentences', () => {
    const schemas = Object.entries(document.components.schemas);
    expect(schemas.filter(([, schema]) => !isSentence(schema['description'])).map(([name]) => name)).toEqual(
      [],
    );
    expect(schemas.flatMap(([name, schema]) => undescribed(name, schema))).toEqual([]);
  });

  it('describes parameters and headers in sentences', () => {
    const parameters = operations.flatMap(({ parameters: all = [] }) =>
      all.map((one) => reader.resolve(one)),
    );
    const responses = operations.flatMap((operation) => reader.responsesOf(operation));
    const headers = responses.flatMap(([, { headers: all = {} }]) =>
      Object.values(all).map((header) => reader.resolve(header)),
    );
    const described = [...parameters, ...headers] as Described[];
    expect(described.filter(({ description }) => !isSentence(description))).toEqual([]);
  });

  it('says what succeeded, with a named example', () => {
    const bad = operations.flatMap((operation) =>
      successesOf(operation)
        .filter(([, { description, content = {} }]) => {
          const examples = Object.values(content).map((one) => Object.keys(one.examples ?? {}));
          return !isSentence(description) || !examples.every(({ length }) => length > 0);
        })
        .map(([status]) => `${operation.operationId} ${status}`),
    );
    expect(bad).toEqual([]);
  });

  it('uses every text of tooling/openapi/descriptions.txt', () => {
    const text = JSON.stringify(document);
    const unused = Object.values(DESCRIPTIONS).filter(
      (one) => !text.includes(JSON.stringify(one).slice(1, -1)),
    );
    expect(unused).toEqual([]);
  });
});

describe('the code samples', () => {
  const sampled = operations.filter((operation) => operation['x-codeSamples']);

  it('are there for the operations that are used most', () => {
    const used = [
      'register',
      'login',
      'refresh',
      'issueCode',
      'exchangeCode',
      'getMe',
      'createOrg',
      'getOrg',
    ];
    const ids = sampled.map(({ operationId }) => operationId);
    expect(ids).toEqual([...used, 'addMember', 'createInvitation']);
    for (const operation of sampled)
      expect(operation['x-codeSamples']!.map(({ lang }) => lang)).toEqual(['Shell', 'TypeScript']);
  });

  it('compile', async () => {
    const programs = sampled.map(({ operationId, 'x-codeSamples': samples }) => [
      `${operationId}.ts`,
      samples!.find(({ lang }) => lang === 'TypeScript')!.source,
    ]);
    expect(await typeErrors(directory, Object.fromEntries(programs))).toEqual([]);
  });
});
