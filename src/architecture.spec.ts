import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { METHOD_METADATA } from '@nestjs/common/constants.js';
import { Reflector } from '@nestjs/core';
import { describe, expect, it } from 'vitest';
import { type Access, RouteAccess } from './access/access.decorators.js';

const SRC = import.meta.dirname;

/** The README's map, from the ground up: a room imports from itself and from those above it there. */
const ROOMS = roomsIn(readFileSync(join(SRC, '../README.md'), 'utf8'));

/** The database's own house-keeping, and what the doctor asks. */
const HAS_ITS_OWN_SQL = /^(?:database|cli\/doctor)\//;
const SQL = /\b(?:SELECT|INSERT INTO|UPDATE \w+ SET|DELETE FROM)\s/;

const PUBLIC_ROUTES = [
  'AuthController.exchangeCode',
  'AuthController.login',
  'AuthController.register',
  'HealthController.getLive',
  'HealthController.getReady',
  'JwksController.getKeySet',
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

function importsOf(file: string): string[] {
  const text = readFileSync(join(SRC, file), 'utf8');
  const specifiers = [...text.matchAll(/(?:from|import|import\() ?'(\.{1,2}\/[^']+)'/g)].map(
    (match) => match[1]!,
  );
  return specifiers.map((specifier) => normalize(join(dirname(file), specifier)));
}

const roomOf = (file: string): string | undefined => (file.includes('/') ? file.split('/')[0] : undefined);

describe('architecture', () => {
  it('declares the access of every route', async () => {
    const found = await routes();
    expect(found.length).toBeGreaterThanOrEqual(11);
    expect(found.filter(({ access }) => access === undefined)).toEqual([]);
  });

  it('is public only where this list says so', async () => {
    const open = (await routes()).filter(({ access }) => access?.to === 'everyone').map(({ name }) => name);
    expect(open.toSorted()).toEqual(PUBLIC_ROUTES);
  });

  it('imports from the ground up only', () => {
    const files = globSync('**/*.ts', { cwd: SRC }).filter((file) => !file.endsWith('.spec.ts'));
    const wrong = files.flatMap((file) =>
      importsOf(file)
        .filter((target) => rank(roomOf(target)) > rank(roomOf(file)))
        .map((target) => `${file} imports ${target}`),
    );
    expect(files.length).toBeGreaterThan(50);
    expect(wrong).toEqual([]);
  });

  it('loads nothing before the version of Node is known to do', () => {
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

  it('has SQL in repositories only, all of which the schema lists', () => {
    const files = globSync('**/*.ts', { cwd: SRC }).filter((file) => !file.endsWith('.spec.ts'));
    const repositories = files.filter((file) => file.endsWith('.repository.ts'));
    const withSql = files.filter((file) => SQL.test(readFileSync(join(SRC, file), 'utf8')));
    expect(withSql.filter((file) => !repositories.includes(file) && !HAS_ITS_OWN_SQL.test(file))).toEqual([]);

    const schema = importsOf('app/schema.ts').filter((file) => file.endsWith('.repository.js'));
    expect(schema.toSorted()).toEqual(repositories.map((file) => file.replace(/\.ts$/, '.js')).toSorted());
  });

  it('reads the process environment in one place', () => {
    const readers = globSync('**/*.ts', { cwd: SRC }).filter(
      (file) => !file.endsWith('.spec.ts') && readFileSync(join(SRC, file), 'utf8').includes('process.env'),
    );
    expect(readers).toEqual(['config/load-env.ts']);
  });
});

function roomsIn(readme: string): string[] {
  const [, table = ''] = /\| Room in `src` .*\n.*\n((?:\|.*\n)+)/.exec(readme) ?? [];
  return table
    .split('\n')
    .flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => name!));
}

/** Files outside any room belong to what assembles the service. */
function rank(room = 'app'): number {
  const index = ROOMS.indexOf(room);
  if (index < 0) throw new Error(`${room} has no place in the order of rooms`);
  return index;
}
