import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build } from 'vite';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { importGraph } from '../../tooling/import-graph.js';
import { expectPrinted, outputOf } from '../pages/support/outputs.js';

const CLIENT = resolve('client');
const MODULES = resolve('node_modules');
const STRICT = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  verbatimModuleSyntax: true,
  skipLibCheck: false,
  noEmit: true,
};

const GUARD = `
import { createGuard, type MemberAdmission, type Refusal } from 'accounts-client/service';

const credentials = { name: 'billing', secret: 's' };
const guard = createGuard({ issuer: 'https://accounts.example.com', audience: 'billing', credentials });

export async function check(header: string | undefined, orgId: string): Promise<string> {
  const answer: MemberAdmission | Refusal = await guard.authorize(header, { orgId, role: 'admin' });
  if (!answer.ok) return answer.problem.code;
  answer.role satisfies 'member' | 'admin' | 'owner';
  const admission = await guard.authorize(header);
  // @ts-expect-error no organization was asked about
  if (admission.ok) void admission.role;
  return answer.user.email;
}
`;

const DESKTOP = `
import { createMainClient, type Electron } from 'accounts-client/electron';
import { createPageClient } from 'accounts-client/electron/page';
import 'accounts-client/electron/preload';
import { keyringStore } from 'accounts-client/tauri';
import { createClient, pages } from 'accounts-client';

const baseUrl = 'https://accounts.example.com';
export const inTauri = createClient({ baseUrl, store: keyringStore({ invoke: async () => null }) });
export async function start(electron: Electron): Promise<void> {
  (await createMainClient({ electron, baseUrl, origins: [] })).refresh satisfies Function;
}
export async function show(): Promise<string | undefined> {
  const page = createPageClient();
  const login = await page.login({ email: 'ada@example.com', password: 'p' }, { timeoutMs: 1 });
  if (!login.ok) return login.problem.code;
  // @ts-expect-error no token
  void login.data.token;
  // @ts-expect-error no message carries a signal
  void page.getMe({}, { signal: AbortSignal.timeout(1) });
  // @ts-expect-error a page ends its own session only
  void page.logOut({ refreshToken: 'r' });
  // @ts-expect-error nothing but tokens
  void page.refresh;
  const code = await page.issueCode({ audience: 'billing', codeChallenge: 'c', codeChallengeMethod: 'S256' });
  if (code.ok) return code.data.expiresAt;
  for await (const one of pages(page.listOrgs, { limit: 1 })) if (one.ok) return one.data.orgs[0]?.name;
  return login.data.user.email;
}
`;

/** What the main entry of Electron uses, with nothing to encrypt. */
const ELECTRON = `{
  app: { whenReady: async () => undefined, getPath: () => '/nowhere' },
  ipcMain: { handle: () => undefined },
  safeStorage: { isAsyncEncryptionAvailable: async () => false },
  session: { defaultSession: { registerPreloadScript: ({ filePath }) => console.log(filePath) } },
}`;

let project: string;
let archive: string;
let files: string[];

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'accounts-client-'));
  const destination = ['--pack-destination', project];
  const packed = run('npm', ['pack', '--json', '--silent', ...destination], CLIENT);
  const json = packed.slice(packed.search(/^\[/m));
  const [made] = JSON.parse(json) as { filename: string; files: { path: string }[] }[];
  archive = made!.filename;
  files = made!.files.map(({ path }) => path);
  const installed = join(project, 'node_modules/accounts-client');
  mkdirSync(installed, { recursive: true });
  run('tar', ['-xzf', join(project, archive), '-C', installed, '--strip-components=1'], project);
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }');
  const program = readFileSync(join(CLIENT, 'test/types.ts'), 'utf8');
  writeFileSync(join(project, 'program.ts'), program.replace('../src/index.ts', 'accounts-client'));
  writeFileSync(join(project, 'guard.ts'), GUARD);
  writeFileSync(join(project, 'desktop.ts'), DESKTOP);
  for (const name of [
    'jose',
    '@types',
    'undici-types',
    '@nestjs',
    'reflect-metadata',
    'rxjs',
    'iterare',
    'tslib',
  ])
    if (existsSync(join(MODULES, name)))
      symlinkSync(join(MODULES, name), join(project, 'node_modules', name));
});
afterAll(() => rmSync(project, { recursive: true }));

function run(program: string, parameters: string[], cwd: string): string {
  return execFileSync(program, parameters, { cwd, encoding: 'utf8' });
}

function compile(options: object): string {
  const settings = {
    compilerOptions: { ...STRICT, ...options },
    files: ['program.ts', 'guard.ts', 'desktop.ts'],
  };
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(settings));
  return run(process.execPath, [join(MODULES, 'typescript/bin/tsc'), '--project', '.'], project);
}

it('has the name that the quick start shows', () => {
  expectPrinted(archive, outputOf('docs/quickstart-client.md', 'accounts-client-'));
});

it('holds what is built and what describes it, and nothing else', () => {
  const built =
    /^dist\/(?:cjs\/)?(?:(?:conformance|electron|guard|service|testing|chunks)\/)?[\w.-]+\.(js|d\.ts)$/;
  const scripts = /^dist\/(?:cjs\/)?conformance\/scripts\/[a-z-]+\.json$/;
  const others = files.filter((file) => !built.test(file) && !scripts.test(file));

  const ofCommonJs = ['dist/cjs/LICENSE.jose.md', 'dist/cjs/package.json'];
  expect(others.toSorted()).toEqual(['README.md', ...ofCommonJs, 'package.json']);
  expect(files).toEqual(
    expect.arrayContaining([
      'dist/index.d.ts',
      'dist/service/index.d.ts',
      'dist/conformance/scripts/tokens.json',
      'dist/cjs/conformance/scripts/tokens.json',
    ]),
  );
});

it('has each entry for programs with ES modules, with CommonJS, and for older resolution', () => {
  const text = readFileSync(join(CLIENT, 'package.json'), 'utf8');
  const { exports, typesVersions } = JSON.parse(text) as {
    exports: Record<string, string | (Record<'types' | 'default', string> & { require: object })>;
    typesVersions: Record<'*', Record<string, string[]>>;
  };
  const entries = Object.entries(exports).filter(([, target]) => typeof target !== 'string');
  const older = Object.keys(typesVersions['*']).map((name) => `./${name}`);
  expect(entries.map(([name]) => name).toSorted()).toEqual(['.', ...older].toSorted());
  const targets = JSON.stringify([entries, typesVersions]).matchAll(/"\.\/(dist\/[^"]+)"/g);
  expect([...targets].map(([, file]) => file).filter((file) => !files.includes(file!))).toEqual([]);
});

it('needs nothing but jose, and that for services alone', () => {
  const description = JSON.parse(readFileSync(join(CLIENT, 'package.json'), 'utf8')) as object;
  const users = [...importGraph(CLIENT, 'src/**/*.ts').keys()].filter((path) =>
    readFileSync(join(CLIENT, path), 'utf8').includes("from 'jose'"),
  );
  expect(description).toHaveProperty('dependencies', { jose: expect.any(String) as string });
  expect(users.length).toBeGreaterThan(0);
  expect(users.filter((path) => !path.startsWith('src/service/'))).toEqual([]);
});

it('has entries for browsers: the main one, that of pages of Electron, and that of Tauri', () => {
  const graph = importGraph(CLIENT, 'src/**/*.ts');
  const reached = new Set(['src/index.ts', 'src/electron/page.ts', 'src/tauri.ts']);
  for (const path of reached) for (const target of graph.get(path)!) reached.add(target);
  const sources = [...reached].map((path) =>
    readFileSync(join(CLIENT, path), 'utf8').replaceAll(/\/\*[^]*?\*\//g, ''),
  );
  expect(sources.length).toBeGreaterThan(5);
  const ofNode = /from '(?!\.\.?\/)|\b(?:process|Buffer|require)\b[.(]/;
  expect(sources.filter((source) => ofNode.test(source))).toEqual([]);
});

it('compiles under strict rules, for a bundler with the DOM and for Node without', () => {
  const lib = ['ES2022', 'DOM', 'DOM.Iterable'];
  const dom = { module: 'esnext', moduleResolution: 'bundler', lib, types: [] };
  const ofNode = { module: 'nodenext', target: 'es2022', lib: ['ES2023'], types: ['node'] };
  expect([compile(dom), compile(ofNode)]).toEqual(['', '']);
});

it('compiles in CommonJS projects, also with the resolution of old ones', () => {
  const target = { target: 'es2022', lib: ['ES2023', 'DOM'], types: ['node'], verbatimModuleSyntax: false };
  writeFileSync(join(project, 'package.json'), '{ "type": "commonjs" }');
  const ofNode = compile({ ...target, module: 'nodenext' });
  const resolution = { moduleResolution: 'node10', ignoreDeprecations: '6.0' };
  const older = compile({ ...target, module: 'commonjs', ...resolution });
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }');
  expect([ofNode, older]).toEqual(['', '']);
});

it('is loaded by require, without jose', () => {
  const program = `
    const names = ['', '/admin', '/electron', '/electron/page', '/express', '/fastify', '/file-store', '/loopback', '/nest', '/service', '/tauri', '/testing'];
    for (const name of names) require('accounts-client' + name);
    const { fakeGuard } = require('accounts-client/testing');
    const { createGuard } = require('accounts-client/service');
    const loaded = Object.keys(require.cache).filter((file) => /jose|accounts-client.dist.(?!cjs)/.test(file));
    console.log(typeof fakeGuard().logIn().token, typeof createGuard, loaded.length);
  `;

  const said = run(process.execPath, ['--input-type=commonjs', '--eval', program], project);

  expect(said).toBe('string function 0\n');
});

it('registers a preload script of one file, which loads electron and nothing else', () => {
  const [ofModules, ofCommonJs] = [
    `import { createMainClient } from 'accounts-client/electron';`,
    `const { createMainClient } = require('accounts-client/electron');`,
  ];
  const start = `createMainClient({ electron: ${ELECTRON}, baseUrl: 'http://127.0.0.1:1', origins: [] });`;
  const registered = [
    run(process.execPath, ['--input-type=module', '--eval', ofModules + start], project),
    run(process.execPath, ['--input-type=commonjs', '--eval', ofCommonJs + start], project),
  ];
  const script = realpathSync(join(project, 'node_modules/accounts-client/dist/cjs/electron/preload.js'));
  expect(registered).toEqual([`${script}\n`, `${script}\n`]);
  const text = readFileSync(script, 'utf8');
  expect(text.match(/\brequire\([^)]*\)|\bimport\b.*/g)).toEqual(['require("electron")']);
});

it('has the same preload script for one of the program, into which a bundler puts it', async () => {
  writeFileSync(join(project, 'preload.js'), `import 'accounts-client/electron/preload';`);
  const entry = { entry: 'preload.js', formats: ['cjs' as const] };
  const rolldownOptions = { external: ['electron'] };
  const config = { root: project, configFile: false, logLevel: 'error' } as const;

  const built = await build({ ...config, build: { write: false, lib: entry, rolldownOptions } });

  const outputs = [built].flat().flatMap((one) => ('output' in one ? one.output : []));
  expect(outputs).toHaveLength(1);
  expect(outputs[0]).toMatchObject({ code: expect.stringContaining('exposeInMainWorld') as string });
});

it('has a bin that starts, as ES modules with jose and as CommonJS without', () => {
  const text = readFileSync(join(CLIENT, 'package.json'), 'utf8');
  const { bin, version } = JSON.parse(text) as { bin: Record<string, string>; version: string };
  const programs = Object.values(bin).flatMap((file) => [file, file.replace('dist/', 'dist/cjs/')]);
  const installed = join(project, 'node_modules/accounts-client');
  const said = programs.map((file) => run(process.execPath, [join(installed, file), '--version'], project));
  const first = programs.map((file) => readFileSync(join(installed, file), 'utf8').split('\n', 1)[0]);
  expect(Object.keys(bin)).toEqual(['accounts-guard']);
  expect(said).toEqual([`${version}\n`, `${version}\n`]);
  expect(first).toEqual(['#!/usr/bin/env node', '#!/usr/bin/env node']);
});

it('is loaded by Node', () => {
  const program = `
    import { createClient, memoryStore } from 'accounts-client';
    import { fileStore } from 'accounts-client/file-store';
    import { createGuard } from 'accounts-client/service';
    const client = createClient({ baseUrl: 'http://127.0.0.1:1', store: memoryStore(), retries: 0 });
    console.log((await client.getLiveness()).problem.code, typeof fileStore, typeof createGuard);
  `;

  const said = run(process.execPath, ['--input-type=module', '--eval', program], project);

  expect(said).toBe('unreachable function function\n');
});

it('passes a login on to a service in the example, which ends there with the membership and with the login', () => {
  cpSync(resolve('examples/handoff'), join(project, 'examples/handoff'), { recursive: true });
  symlinkSync(resolve('dist'), join(project, 'dist'));
  for (const name of ['otplib', '@otplib'])
    symlinkSync(join(MODULES, name), join(project, 'node_modules', name));

  const said = run(process.execPath, ['examples/handoff/run.ts'], project);

  expectPrinted(said, outputOf('examples/handoff/README.md', 'Accounts starts'));
}, 120_000);
