import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { RequestMethod } from '@nestjs/common';
import { METHOD_METADATA } from '@nestjs/common/constants.js';
import { Reflector } from '@nestjs/core';
import { describe, expect, it } from 'vitest';
import { between, circularImports, importGraph } from '../tooling/import-graph.js';
import { type Access, admitsUnverified, RouteAccess } from './access/route-access.js';
import { IsGated } from './http/read-gate.js';

const SRC = import.meta.dirname;
const PROJECT = join(SRC, '..');
const SERVICE = importGraph(PROJECT, 'src/**/!(*.spec).ts');

/**
 * From the ground up: a folder imports only from itself and from the folders before it, and its SQL names only their
 * tables. A parent's own files follow its children.
 */
const FOLDERS = [
  'config',
  'problems',
  'identifiers',
  'telemetry/logging',
  'telemetry/metrics',
  'telemetry/tracing',
  'database/transactions',
  'database/mysql',
  'database/sqlite',
  'database/migrations',
  'database',
  'access',
  'openapi',
  'http',
  'events',
  'requests',
  'users',
  'mail',
  'rate-limits',
  'services',
  'auth/tokens',
  'auth/sessions',
  'auth/passwords',
  'auth/email-codes',
  'auth/second-factor',
  'auth/logins',
  'auth/providers',
  'orgs/state',
  'orgs/members',
  'orgs/invitations',
  'orgs',
  'api-keys',
  'auth',
  'accounts',
  'introspection',
  'mail-delivery',
  'health',
  'me',
  'operators',
  'clean-up',
  'app',
  'cli/command',
  'cli/doctor',
  'cli/data',
  'cli/import',
  'cli/events',
  'cli/users',
  'cli/restore',
  'cli',
  '.',
].map((folder) => join('src', folder));

/** The database's own house-keeping, and what the doctor asks. */
const HAS_ITS_OWN_SQL = /^(?:database|cli\/doctor)\//;
const TABLES = /\b(?:FROM|JOIN|INTO|UPDATE) (\w+)/g;
const SQL = /\b(?:SELECT|INSERT INTO|UPDATE \w+ SET|DELETE FROM)\s/;

const PUBLIC_ROUTES = [
  'AuthController.completeLogin',
  'AuthController.exchangeCode',
  'AuthController.getAuthConfig',
  'AuthController.login',
  'AuthController.refresh',
  'AuthController.register',
  'DiscoveryController.getKeySet',
  'DiscoveryController.getOpenidConfiguration',
  'DiscoveryController.getServerMetadata',
  'FoundApiKeysController.revokeFoundApiKey',
  'HealthController.getLiveness',
  'HealthController.getReadiness',
  'PasswordResetController.requestPasswordReset',
  'PasswordResetController.resetPassword',
  'ProviderLoginsController.finishProviderLogin',
  'ProviderLoginsController.receiveProviderLogin',
  'ProviderLoginsController.startProviderLogin',
];

const FOR_UNVERIFIED_USERS = [
  'AuthController.logOut',
  'MeController.deleteAccount',
  'MeController.getAccount',
  'MeController.getMe',
  'MeController.listSessions',
  'OwnCredentialsController.requestEmailChange',
  'OwnCredentialsController.requestEmailVerification',
  'OwnCredentialsController.verifyEmail',
];

/** Reads whose answer does not grow with the data, and the event feed, whose waiting requests have their own limit. */
const READS_WITHOUT_GATE = [
  'AuthController.getAuthConfig',
  'DiscoveryController.getKeySet',
  'DiscoveryController.getOpenidConfiguration',
  'DiscoveryController.getServerMetadata',
  'FeedController.listEvents',
  'HealthController.getLiveness',
  'HealthController.getReadiness',
  'MeController.getAccount',
  'MeController.getProfile',
  'MembersController.getMember',
  'OperatorOrgsController.adminGetOrg',
  'OperatorProvidersController.adminGetProvider',
  'OperatorServicesController.adminGetService',
  'OperatorUsersController.adminGetUser',
  'OwnCredentialsController.getSecondFactor',
  'ProviderLoginsController.receiveProviderLogin',
  'StatusController.adminGetStatus',
];

type Handler = (...parameters: unknown[]) => unknown;

interface Route {
  name: string;
  access: Access | undefined;
  isRead: boolean;
  isGated: boolean;
}

async function routes(): Promise<Route[]> {
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
          isRead: Reflect.getMetadata(METHOD_METADATA, value as Handler) === RequestMethod.GET,
          isGated: Reflect.hasMetadata(IsGated.KEY, value as Handler),
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

describe('architecture', () => {
  it('has an access rule for every route', async () => {
    const found = await routes();
    const declared = sourcesWith(/^@Controller\(/m).flatMap(
      (file) => readFileSync(join(SRC, file), 'utf8').match(/^  @(?:Get|Post|Put|Patch|Delete)\(/gm) ?? [],
    );
    expect(found).toHaveLength(declared.length);
    expect(found.filter(({ access }) => access === undefined)).toEqual([]);
  });

  it('makes only the listed routes public', async () => {
    const open = (await routes()).filter(({ access }) => access?.to === 'everyone').map(({ name }) => name);
    expect(open.toSorted()).toEqual(PUBLIC_ROUTES);
  });

  it('admits users who must verify their email only to the listed routes', async () => {
    const open = (await routes()).filter(({ access }) => access && admitsUnverified(access));
    expect(open.map(({ name }) => name).toSorted()).toEqual(FOR_UNVERIFIED_USERS);
  });

  it('reads through the gate whatever grows with the data', async () => {
    const reads = (await routes()).filter(({ isRead }) => isRead);
    const free = reads.filter(({ isGated }) => !isGated).map(({ name }) => name);
    expect(free.toSorted()).toEqual(READS_WITHOUT_GATE);
  });

  it('imports only from folders above it', () => {
    const folders = new Set([...SERVICE.keys()].map((file) => dirname(file)));
    expect([...folders].toSorted()).toEqual(FOLDERS.toSorted());
    const wrong = [...SERVICE].flatMap(([file, targets]) =>
      [...targets].filter((target) => rank(target) > rank(file)).map((target) => `${file} imports ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  it('has SQL only for tables of its own folder and of the folders above it', () => {
    const texts = sources().map((file) => [`src/${file}`, readFileSync(join(SRC, file), 'utf8')] as const);
    const homes = new Map(
      texts.flatMap(([file, text]) =>
        [...text.matchAll(/^@Entity\('(\w+)'/gm)].map(([, table]) => [table!, file] as const),
      ),
    );
    const wrong = texts.flatMap(([file, text]) =>
      [...text.matchAll(TABLES)]
        .filter(([, table]) => homes.has(table!) && rank(homes.get(table!)!) > rank(file))
        .map(([, table]) => `${file} names ${table}`),
    );
    expect(wrong).toEqual([]);
  });

  it('has no import cycles between files or folders', () => {
    const all = importGraph(PROJECT, '{src,test,bench,tooling}/**/*.{ts,mjs}');
    expect(circularImports(all)).toEqual([]);
    expect(circularImports(between(folderOf, all))).toEqual([]);
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
    const staticImport = /\b(?:from|import)\s*\(?\s*'(?:\.{1,2}\/)+(?:build|dist)\//;
    expect(files).toContain('bin/accounts.js');
    expect(files.filter((file) => staticImport.test(readFileSync(join(PROJECT, file), 'utf8')))).toEqual([]);
  });

  it('checks the version of Node before it loads anything', () => {
    const statics = ['main.ts', 'cli/main.ts'].flatMap((file) =>
      readFileSync(join(SRC, file), 'utf8')
        .split('\n')
        .filter((line) => /^(?:import |} from )(?!.*from 'node:)/.test(line)),
    );
    expect(statics).toEqual([
      "import { nodeProblem } from './app/node-version.js';",
      "import { nodeProblem } from '../app/node-version.js';",
    ]);
    expect(readFileSync(join(SRC, 'app/node-version.ts'), 'utf8')).not.toMatch(/^import .* from '(?!node:)/m);
  });

  it('names every class that sends SQL a repository', () => {
    const files = sources().filter((file) => !HAS_ITS_OWN_SQL.test(file));
    const classes = files.flatMap((file) =>
      Array.from(readFileSync(join(SRC, file), 'utf8').matchAll(/^export class (\w+).*\{\n[^]+?^}$/gm)),
    );
    const senders = classes.filter(([text]) => SQL.test(text) || text.includes('@InjectRepository('));
    const names = senders.map(([, name]) => name!);
    expect(names.length).toBeGreaterThan(20);
    expect(names.filter((name) => !name.endsWith('Repository'))).toEqual([]);
  });

  it('has SQL only in repositories', () => {
    const files = sources();
    const withSql = files.filter((file) => SQL.test(readFileSync(join(SRC, file), 'utf8')));
    const wrong = withSql.filter((file) => !isRepository(file, files) && !HAS_ITS_OWN_SQL.test(file));
    expect(wrong).toEqual([]);
  });

  it('has modules only in files of their own', () => {
    const wrong = sourcesWith(/^@Module\(/m).filter((file) => !file.endsWith('.module.ts'));
    expect(wrong).toEqual([]);
  });

  it('declares the name of each type once', () => {
    const declaration = /^(?:export )?(?:abstract )?(?:class|interface|type|enum) (\w+)/gm;
    const declared = sources().flatMap((file) =>
      Array.from(readFileSync(join(SRC, file), 'utf8').matchAll(declaration), ([, name]) => ({ name, file })),
    );
    const twice = [...Map.groupBy(declared, ({ name }) => name).values()].filter(({ length }) => length > 1);
    expect(declared.length).toBeGreaterThan(500);
    expect(twice).toEqual([]);
  });

  it('reads the process environment in one place', () => {
    expect(sourcesWith(/process\.env/)).toEqual(['config/env.ts']);
  });

  it('forces a type only where it adapts a library', () => {
    const forced = sourcesWith(/\bas (?:unknown as|never)\b/);
    expect(forced).not.toEqual([]);
    expect(forced.filter((file) => !/^database\/(?:mysql|sqlite)\//.test(file))).toEqual([]);
  });
});

/** Statements of one subject of a table stand in `x.<subject>.ts`, beside its `x.repository.ts`. */
function isRepository(file: string, files: readonly string[]): boolean {
  return file.endsWith('.repository.ts') || files.includes(file.replace(/\.[\w-]+\.ts$/, '.repository.ts'));
}

/** Outside of `src`, a folder of the first level and what is below it are one. */
function folderOf(file: string): string {
  return file.startsWith('src/') ? dirname(file) : file.split('/').slice(0, 2).join('/');
}

function rank(file: string): number {
  return FOLDERS.indexOf(dirname(file));
}
