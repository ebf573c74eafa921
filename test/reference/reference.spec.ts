import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseEnv } from '../../src/config/env.js';
import { PROBLEMS } from '../../src/problems/problem-codes.js';
import { plots } from '../../tooling/plots.js';
import { apiPage, cliPage, type Document, eventsPage, floorsOf, metricsPage, withFloors } from './pages.js';

const PROJECT = resolve(import.meta.dirname, '../..');
const DOCS = join(PROJECT, 'docs');
/** What others define, too, is not for this page to describe. */
const OF_NODE = new Set(['NODE_ENV']);

const read = (path: string): string => readFileSync(resolve(DOCS, path), 'utf8');
const cellsOf = (line: string): string[] =>
  line
    .split('|')
    .map((cell) => cell.trim())
    .slice(1, -1);
const codeIn = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, code]) => code!);

describe('a generated page of docs/reference is current (npm run reference):', () => {
  const document = JSON.parse(read('openapi.json')) as Document;
  const pages = { api: () => apiPage(document), events: eventsPage, metrics: metricsPage, cli: cliPage };

  it.each(Object.entries(pages))('%s.md', async (name, generate) => {
    await expect(await generate()).toMatchFileSnapshot(resolve(DOCS, `reference/${name}.md`));
  });
});

it('the list of mechanisms that exist for speed in bench/RESULTS.md is current (npm run reference)', async () => {
  const files = globSync('src/**/!(*.spec).ts', { cwd: PROJECT }).toSorted();
  const floors = files.flatMap((file) => floorsOf(file, readFileSync(resolve(PROJECT, file), 'utf8')));
  expect(floors.length).toBeGreaterThan(10);
  const results = resolve(PROJECT, 'bench/RESULTS.md');
  await expect(withFloors(readFileSync(results, 'utf8'), floors)).toMatchFileSnapshot(results);
});

describe('a plot of bench/RESULTS.md shows what the tables have (npm run reference):', () => {
  const drawn = plots(readFileSync(resolve(PROJECT, 'bench/RESULTS.md'), 'utf8'));

  it.each(Object.entries(drawn))('%s', async (name, svg) => {
    await expect(svg).toMatchFileSnapshot(resolve(DOCS, `pictures/${name}.svg`));
  });
});

describe('floorsOf', () => {
  const source = (tag: string) => `/** Fast.\n *\n * @floor ${tag}\n */\nexport class Cache {}`;

  it('finds the mechanism, its floor and its figure', () => {
    const expected = [['`Cache`', '`a.ts`', 'login 0.8', 'twice as fast']];
    expect(floorsOf('a.ts', source('login 0.8: twice as fast'))).toEqual(expected);
  });

  it('refuses a floor without a figure', () => {
    expect(() => floorsOf('a.ts', source('login 0.8'))).toThrow('a.ts: Cache has no floor and figure');
  });
});

describe('a page of docs/reference by hand', () => {
  it('errors.md has every error code, once, in its order, with its status', () => {
    const rows = read('reference/errors.md')
      .split('\n')
      .filter((line) => line.startsWith('| `'));
    const documented = rows.map((row) => cellsOf(row).slice(0, 2));
    const known = Object.entries(PROBLEMS).map(([code, { status }]) => [`\`${code}\``, String(status)]);
    expect(documented).toEqual(known);
  });

  it('logs.md has every reason of a rejection', () => {
    const reasonsIn = (file: string, before: RegExp): string[] => {
      const [, union] = new RegExp(`${before.source}((?:[ |\n]*'\\w+')+)`).exec(read(`../src/auth/${file}`))!;
      return Array.from(union!.matchAll(/'(\w+)'/g), ([, reason]) => reason!);
    };
    const rows = read('reference/logs.md').split('| Rejected ')[1]!.split('\n').slice(2, 5);
    expect(rows.map((row) => codeIn(cellsOf(row)[1]!))).toEqual([
      reasonsIn('tokens/access-token.ts', /type TokenRefusal =/),
      reasonsIn('sessions/codes.service.ts', /constructor\(reason:/),
      reasonsIn('sessions/sessions.service.ts', /constructor\(reason:/),
    ]);
  });

  it('operate.md quotes what Accounts logs and answers', () => {
    const files = globSync('src/**/!(*.spec).ts', { cwd: PROJECT });
    const source = files.map((file) => read(`../${file}`)).join('\n');
    const page = read('operate.md');
    const messages = Array.from(
      page.matchAll(/(?:[Ww]arnings?|Error) `([a-z][a-z -]+)`/g),
      ([, text]) => text!,
    );
    expect(messages.length).toBeGreaterThan(3);
    expect(messages.filter((message) => !source.includes(message))).toEqual([]);
    const states = page.matchAll(/`(?:\/health\/ready 200 )?(\w+): (degraded|read_only|full)`/g);
    const readiness = read('../src/health/readiness.ts');
    const unknown = Array.from(states, ([text, member, state]) => ({ text, member, state })).filter(
      ({ member, state }) => !new RegExp(`\\b${member}\\b`).test(readiness) || !source.includes(`'${state}'`),
    );
    expect(unknown).toEqual([]);
  });

  it('configuration.md has every variable that Accounts reads, and no other', () => {
    const variables = new Set<string>();
    parseEnv(new Proxy<NodeJS.ProcessEnv>({}, { get: (_, name) => void variables.add(String(name)) }));
    const rows = read('reference/configuration.md')
      .split(/^## /m)
      .filter((section) => !section.startsWith('Set in production'))
      .flatMap((section) => section.split('\n').filter((line) => line.startsWith('| `')));
    const documented = rows.flatMap((row) => codeIn(cellsOf(row)[0]!));
    expect(documented.toSorted()).toEqual([...variables].filter((name) => !OF_NODE.has(name)).toSorted());
  });

  it('.env.example names every variable that Accounts reads, and no other', () => {
    const variables = new Set<string>();
    parseEnv(new Proxy<NodeJS.ProcessEnv>({}, { get: (_, name) => void variables.add(String(name)) }));
    const named = read('../.env.example').matchAll(/^# ([A-Z\d_]+)=/gm);
    expect(Array.from(named, ([, name]) => name!).toSorted()).toEqual([...variables].toSorted());
  });

  it('rate-limits.md has every limit that has a variable', () => {
    const inConfiguration = codeIn(read('reference/configuration.md')).filter((name) =>
      /^RATE_LIMIT_\w+$/.test(name),
    );
    const inTable = read('reference/rate-limits.md').matchAll(/^\| `(RATE_LIMIT_\w+)` /gm);
    expect(Array.from(inTable, ([, name]) => name!).toSorted()).toEqual(
      [...new Set(inConfiguration)].toSorted(),
    );
  });
});
