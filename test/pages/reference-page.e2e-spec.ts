import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseEnv } from '../../src/config/env.js';

const DOCS = resolve(import.meta.dirname, '../../docs');
const PAGE = readFileSync(resolve(DOCS, 'reference.md'), 'utf8');
/** What others define, too, is not the service's to describe. */
const OF_NODE = ['NODE_ENV'];

function tableOf(heading: string): string[][] {
  const chapter = PAGE.split(/^## /m).find((part) => part.startsWith(`${heading}\n`))!;
  const lines = chapter.split('\n').filter((line) => line.startsWith('|'));
  const end = lines.findIndex((line, index) => index > 1 && line.startsWith('| -'));
  const rows = lines.slice(2, end === -1 ? undefined : end - 1);
  return rows.map((line) => line.split(/ *\| */).slice(1, -1));
}

const codeIn = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, code]) => code!);

const successes = (statuses: string[]): string =>
  statuses
    .filter((status) => status.startsWith('2'))
    .toSorted()
    .join(' or ');

function published(): Map<string, string> {
  const { paths } = JSON.parse(readFileSync(resolve(DOCS, 'openapi.json'), 'utf8')) as {
    paths: Record<string, Record<string, { responses: object }>>;
  };
  return new Map(
    Object.entries(paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, { responses }]): [string, string] => [
        `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
        successes(Object.keys(responses)),
      ]),
    ),
  );
}

/** `/enable` after `POST …/disable` is a sibling, and `/sessions` after `GET …/:userId` is below it. */
function namedIn(cell: string, known: ReadonlyMap<string, string>): string[] {
  const [first, ...others] = codeIn(cell).filter((code) => !code.startsWith('&') && !code.startsWith('?'));
  const base = first!.replace(/\?.*/, '');
  const parents = [base, base.replace(/\/[^/]+$/, '')];
  parents.push(parents[1]!.replace(/\/[^/]+$/, ''));
  const rest = others.map((code) => {
    if (!code.startsWith('/')) return code;
    return parents.map((parent) => parent + code).find((route) => known.has(route)) ?? base + code;
  });
  return [base, ...rest];
}

describe('docs/reference.md', () => {
  it('has every route of the OpenAPI document, once, with the status of its success', () => {
    const known = published();
    const named = tableOf('Routes').flatMap(([route, , status]) =>
      namedIn(route!, known).map((name) => `${name} ${successes(status!.match(/\d{3}/g)!)}`),
    );
    expect(named.toSorted()).toEqual([...known].map(([name, status]) => `${name} ${status}`).toSorted());
  });

  it('has every environment variable that the service reads, and no other', () => {
    const read = new Set<string>();
    const environment = new Proxy<NodeJS.ProcessEnv>({}, { get: (_, name) => void read.add(String(name)) });
    parseEnv(environment);
    const named = tableOf('Environment variables').flatMap(([names]) => codeIn(names!));
    expect([...named, ...OF_NODE].toSorted()).toEqual([...read].toSorted());
  });
});
