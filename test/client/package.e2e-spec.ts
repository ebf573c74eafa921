import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { importGraph } from '../../tooling/import-graph.js';

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

let project: string;
let files: string[];

/** What `npm install` of the tarball does, without a registry. */
beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'accounts-client-'));
  const destination = ['--pack-destination', project];
  const packed = run('npm', ['pack', '--json', '--silent', ...destination], CLIENT);
  const json = packed.slice(packed.search(/^\[/m));
  const [made] = JSON.parse(json) as { filename: string; files: { path: string }[] }[];
  files = made!.files.map(({ path }) => path);
  const installed = join(project, 'node_modules/accounts-client');
  mkdirSync(installed, { recursive: true });
  run('tar', ['-xzf', join(project, made!.filename), '-C', installed, '--strip-components=1'], project);
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }');
  const program = readFileSync(join(CLIENT, 'test/types.ts'), 'utf8').replace(
    '../src/index.ts',
    'accounts-client',
  );
  writeFileSync(join(project, 'program.ts'), program);
});
afterAll(() => rmSync(project, { recursive: true }));

function run(program: string, parameters: string[], cwd: string): string {
  return execFileSync(program, parameters, { cwd, encoding: 'utf8' });
}

function compile(options: object): string {
  writeFileSync(
    join(project, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: { ...STRICT, ...options }, files: ['program.ts'] }),
  );
  return run(process.execPath, [join(MODULES, 'typescript/bin/tsc'), '--project', '.'], project);
}

function withoutComments(source: string): string {
  return source.replaceAll(/\/\*[^]*?\*\//g, '');
}

it('holds what is built and what describes it, and nothing else', () => {
  const others = files.filter((file) => !/^dist\/[\w.-]+\.(js|d\.ts)$/.test(file));

  expect(others.toSorted()).toEqual(['README.md', 'package.json']);
  expect(files).toContain('dist/index.d.ts');
});

it('has a main entry for browsers', () => {
  const graph = importGraph(CLIENT, 'src/**/*.ts');
  const reached = new Set(['src/index.ts']);
  for (const path of reached) for (const target of graph.get(path)!) reached.add(target);
  const sources = [...reached].map((path) => withoutComments(readFileSync(join(CLIENT, path), 'utf8')));

  expect(sources.length).toBeGreaterThan(5);
  expect(
    sources.filter((source) => /from '(?!\.\/)|\b(?:process|Buffer|require)\b[.(]/.test(source)),
  ).toEqual([]);
});

it('compiles under strict rules, for a bundler with the DOM and for Node without', () => {
  const dom = {
    module: 'esnext',
    moduleResolution: 'bundler',
    lib: ['ES2022', 'DOM', 'DOM.Iterable'],
    types: [],
  };
  const ofNode = { module: 'nodenext', target: 'es2022', lib: ['ES2023'], types: ['node'] };
  mkdirSync(join(project, 'node_modules/@types'));
  symlinkSync(join(MODULES, '@types/node'), join(project, 'node_modules/@types/node'));
  symlinkSync(join(MODULES, 'undici-types'), join(project, 'node_modules/undici-types'));

  expect([compile(dom), compile(ofNode)]).toEqual(['', '']);
});

it('is loaded by Node', () => {
  const program = `
    import { createClient, memoryStore } from 'accounts-client';
    import { fileStore } from 'accounts-client/file-store';
    const client = createClient({ baseUrl: 'http://127.0.0.1:1', store: memoryStore(), retries: 0 });
    console.log((await client.getLive()).problem.code, typeof fileStore);
  `;

  const said = run(process.execPath, ['--input-type=module', '--eval', program], project);

  expect(said).toBe('unreachable function\n');
});
