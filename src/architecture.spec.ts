import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { METHOD_METADATA } from '@nestjs/common/constants.js';
import { Reflector } from '@nestjs/core';
import { describe, expect, it } from 'vitest';
import { between, circularImports, importGraph } from '../tooling/import-graph.js';
import { type Access, RouteAccess } from './access/route-access.js';

const SRC = import.meta.dirname;
const PROJECT = join(SRC, '..');
const SERVICE = importGraph(PROJECT, 'src/**/!(*.spec).ts');

/** The README's map, from the ground up: a room imports from itself and from those above it there. */
const ROOMS = roomsIn(readFileSync(join(SRC, '../README.md'), 'utf8'));

/** The database's own house-keeping, and what the doctor asks. */
const HAS_ITS_OWN_SQL = /^(?:database|cli\/doctor)\//;
const SQL = /\b(?:SELECT|INSERT INTO|UPDATE \w+ SET|DELETE FROM)\s/;

const PUBLIC_ROUTES = [
  'AuthController.exchangeCode',
  'AuthController.login',
  'AuthController.register',
  'DiscoveryController.getOpenidConfiguration',
  'DiscoveryController.getServerMetadata',
  'HealthController.getLive',
  'HealthController.getReady',
  'JwksController.getKeySet',
  'PasswordRecoveryController.forgot',
  'PasswordRecoveryController.reset',
  'RefreshController.refresh',
  'SecondStepController.logInWithSecondFactor',
];

type Handler = (...parameters: unknown[]) => unknown;

async function routes(): Promise<{ name: string; access: Access | undefined }[]> {
  const reflector = new Reflector();
  const files = globSync('**/*.controller.ts', { cwd: SRC });
  const modules = await Promise.all(
    files.map((file) => import(join(SRC, file)) as Promise<Record<string, { prototype: object }>>),
  );
  return modules.flatMap((module) =>
    Object.entries(module).flatMap(([name, { prototype }]) =>
      Object.entries(Object.getOwnPropertyDescriptors(prototype))
        .filter(([, { value }]) => typeof value === 'function' && Reflect.hasMetadata(METHOD_METADATA, value))
        .map(([method, { value }]) => ({
          name: `${name}.${method}`,
          access: reflector.get(RouteAccess, value as Handler),
        })),
    ),
  );
}

function sources(): string[] {
  return globSync('**/*.ts', { cwd: SRC }).filter((file) => !file.endsWith('.spec.ts'));
}

function sourcesWith(pattern: RegExp): string[] {
  return sources().filter((file) => pattern.test(readFileSync(join(SRC, file), 'utf8')));
}

/** The room of a file, also outside `src`: files above any room of `src` belong to what assembles the service. */
function roomOf(path: string): string {
  const [top = '', room = '', ...rest] = path.split('/');
  if (rest.length > 0) return `${top}/${room}`;
  return top === 'src' ? 'src/app' : path;
}

describe('architecture', () => {
  it('has an access rule for every route', async () => {
    const found = await routes();
    expect(found.length).toBeGreaterThanOrEqual(11);
    expect(found.filter(({ access }) => access === undefined)).toEqual([]);
  });

  it('makes only the listed routes public', async () => {
    const open = (await routes()).filter(({ access }) => access?.to === 'everyone').map(({ name }) => name);
    expect(open.toSorted()).toEqual(PUBLIC_ROUTES);
  });

  it('imports only from lower layers', () => {
    const wrong = [...between(roomOf, SERVICE)].flatMap(([room, targets]) =>
      [...targets].filter((target) => rank(target) > rank(room)).map((target) => `${room} imports ${target}`),
    );
    expect(SERVICE.size).toBeGreaterThan(50);
    expect(wrong).toEqual([]);
  });

  it('has no import cycles between files or rooms', () => {
    const all = importGraph(PROJECT, '{src,test,bench,tooling}/**/*.{ts,mjs}');
    expect(circularImports(all)).toEqual([]);
    expect(circularImports(between(roomOf, all))).toEqual([]);
  });

  it('keeps tooling independent of tests and benchmark', () => {
    const parts = between(
      (path) => path.split('/')[0]!,
      importGraph(PROJECT, '{src,test,bench,tooling}/**/*.ts'),
    );
    expect(parts.get('tooling')).toEqual(new Set());
    expect(parts.get('bench')).toEqual(new Set(['tooling']));
    expect(parts.get('test')).toEqual(new Set(['src', 'tooling']));
  });

  it('imports nothing of the build by name, which lint would follow while a build replaces it', () => {
    const files = globSync('{bin,bench,scripts,src,test,tooling}/**/*.{js,mjs,ts}', { cwd: PROJECT });
    const staticImport = /\b(?:from|import)\s*\(?\s*'(?:\.{1,2}\/)+dist\//;
    expect(files).toContain('bin/accounts.js');
    expect(files.filter((file) => staticImport.test(readFileSync(join(PROJECT, file), 'utf8')))).toEqual([]);
  });

  it('checks the version of Node before it loads anything', () => {
    const statics = ['main.ts', 'cli/main.ts'].flatMap((file) =>
      readFileSync(join(SRC, file), 'utf8')
        .split('\n')
        .filter((line) => /^import |^} from /.test(line)),
    );
    expect(statics).toEqual([
      "import { nodeProblem } from './app/node-version.js';",
      "import { nodeProblem } from '../app/node-version.js';",
    ]);
    expect(readFileSync(join(SRC, 'app/node-version.ts'), 'utf8')).not.toMatch(/^import .* from '(?!node:)/m);
  });

  it('has SQL only in repositories, all listed in the schema', () => {
    const files = sources();
    const repositories = files.filter((file) => file.endsWith('.repository.ts'));
    const withSql = files.filter((file) => SQL.test(readFileSync(join(SRC, file), 'utf8')));
    expect(withSql.filter((file) => !repositories.includes(file) && !HAS_ITS_OWN_SQL.test(file))).toEqual([]);

    const schema = [...SERVICE.get('src/app/schema.ts')!].filter((file) => file.endsWith('.repository.ts'));
    expect(schema.toSorted()).toEqual(repositories.map((file) => `src/${file}`).toSorted());
  });

  it('reads the process environment in one place', () => {
    expect(sourcesWith(/process\.env/)).toEqual(['config/load-env.ts']);
  });

  it('forces a type only where it adapts a library', () => {
    const forced = sourcesWith(/\bas (?:unknown as|never)\b/);
    expect(forced).not.toEqual([]);
    expect(forced.filter((file) => !file.startsWith('database/adapters/'))).toEqual([]);
  });
});

function roomsIn(readme: string): string[] {
  const [, table = ''] = /\| Room in `src` .*\n.*\n((?:\|.*\n)+)/.exec(readme) ?? [];
  return table
    .split('\n')
    .flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => name!));
}

function rank(room: string): number {
  const index = ROOMS.indexOf(room.replace('src/', ''));
  if (index < 0) throw new Error(`${room} has no place in the order of rooms`);
  return index;
}
