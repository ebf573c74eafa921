import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CALLER_KINDS, type CallerKind } from '../../src/access/route-access.js';
import { type Service, startService } from '../support/service.js';
import { CONSUMERS } from '../openapi/consumers.js';
import type { Document } from '../openapi/documented.js';

type Generator = keyof typeof CONSUMERS;

/** As their manuals say, and nothing more. */
const COMMANDS: Record<Generator, [bin: string, ...parameters: string[]]> = {
  'openapi-typescript': [
    'openapi-typescript/bin/cli.js',
    'openapi.json',
    '--output',
    'openapi-typescript/schema.ts',
  ],
  orval: [
    'orval/dist/bin/orval.mjs',
    '--input',
    'openapi.json',
    '--output',
    'orval/client.ts',
    '--client',
    'fetch',
  ],
  'hey-api': [
    '@hey-api/openapi-ts/bin/run.js',
    '--input',
    'openapi.json',
    '--output',
    'hey-api/client',
    '--no-log-file',
  ],
};

const GENERATORS = Object.keys(COMMANDS) as Generator[];

const STRICT = {
  compilerOptions: {
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    noImplicitReturns: true,
    noFallthroughCasesInSwitch: true,
    target: 'ES2024',
    lib: ['ES2024', 'DOM', 'DOM.Iterable'],
    module: 'ESNext',
    moduleResolution: 'bundler',
    types: [],
    // Of the libraries that come with the compiler: nothing that is generated ends in .d.ts.
    skipLibCheck: true,
    noEmit: true,
  },
  include: ['openapi-typescript', 'orval', 'hey-api/client/types.gen.ts'],
};

/** The client that hey-api copies beside what it generates, whatever the document, does without that one rule. */
const STRICT_BUT_ONE = {
  extends: '../tsconfig.json',
  compilerOptions: { exactOptionalPropertyTypes: false },
  include: ['.'],
};

describe('code generated from the OpenAPI document', () => {
  let service: Service;
  let document: Document;
  let directory: string;

  beforeAll(async () => {
    service = await startService();
    directory = await mkdtemp(join(tmpdir(), 'generated-'));
    ({ body: document } = await service.anyone.get<Document>('/openapi.json'));
    await writeFile(join(directory, 'package.json'), '{ "type": "module" }');
    await writeFile(join(directory, 'openapi.json'), JSON.stringify(document));
    await writeFile(join(directory, 'tsconfig.json'), JSON.stringify(STRICT));
    await Promise.all([...GENERATORS.map(generate), ...CALLER_KINDS.map(generateTypes)]);
    await writeFile(join(directory, 'hey-api/tsconfig.json'), JSON.stringify(STRICT_BUT_ONE));
  });
  afterAll(async () => {
    await rm(directory, { recursive: true });
    await service.stop();
  });

  async function generate(generator: Generator): Promise<void> {
    await mkdir(join(directory, generator));
    await writeFile(join(directory, generator, 'consumer.ts'), CONSUMERS[generator]);
    await run(...COMMANDS[generator]);
  }

  /** The smallest of the three, from the document of one kind of callers. */
  async function generateTypes(callers: CallerKind): Promise<void> {
    const { text } = await service.anyone.get(`/openapi/${callers}.json`);
    await writeFile(join(directory, `${callers}.json`), text);
    const output = join('openapi-typescript', 'callers', `${callers}.ts`);
    await run('openapi-typescript/bin/cli.js', `${callers}.json`, '--output', output);
  }

  async function run(bin: string, ...parameters: string[]): Promise<string> {
    const program = resolve('node_modules', bin);
    const running = promisify(execFile)(process.execPath, [program, ...parameters], { cwd: directory });
    return running.then(
      ({ stdout }) => stdout,
      ({ stdout, stderr }: { stdout: string; stderr: string }) => {
        throw new Error(`${bin}:\n${stdout}${stderr}`);
      },
    );
  }

  it('compiles in strict mode, with clients that narrow failures by code', async () => {
    const compiled = await Promise.all(
      ['.', 'hey-api'].map((project) => run('typescript/bin/tsc', '--project', project)),
    );

    expect(compiled).toEqual(['', '']);
  });

  it.each(GENERATORS)('has no near-duplicate names from %s', (generator) => {
    const schemas = Object.keys(document.components.schemas);
    const names = new Set([...schemas, ...exportedNames(generator)]);

    const twins = schemas.flatMap((schema) =>
      [...names].filter((name) => name !== schema && wordsOf(name) === wordsOf(schema)),
    );
    expect(names.size).toBeGreaterThan(schemas.length);
    expect(twins).toEqual([]);
  });

  function exportedNames(generator: Generator): string[] {
    const files = globSync(join(directory, generator, '**/*.ts'));
    return files.flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/^export (?:type|interface|const|function) (\w+)/gm)].map(
        ([, name]) => name!,
      ),
    );
  }
});

/** In any order, and whether or not there is an s at the end. */
function wordsOf(name: string): string {
  const words = name.match(/[A-Z]?[a-z]+|\d+/g) ?? [];
  return words
    .map((word) => word.toLowerCase().replace(/s$/, ''))
    .toSorted()
    .join(' ');
}
