import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import ts from 'typescript';

const NEST = 'node_modules/@nestjs/cli/bin/nest.js';
const BUILT = 'dist/main.js';
const SETTINGS = ['nest-cli.json', 'tsconfig.json', 'tsconfig.build.json', 'package-lock.json'];

/** Compiled alone. Of a controller or a DTO the plugin in nest-cli.json documents the types, which takes all of them. */
const SIMPLE_SOURCE = /(?<!\.(?:controller|d|request|query|responses?))\.ts$/;

/** Tests run the built service: builds again what is newer, and all of it unless that is a few simple sources. */
export default function setup(): void {
  const builtMs = existsSync(BUILT) ? statSync(BUILT).mtimeMs : 0;
  const changed = inputs().filter((path) => statSync(path).mtimeMs >= builtMs);
  const sources = changed.filter((path) => SIMPLE_SOURCE.test(path));
  // A folder is as new as the last file that was made or deleted in it.
  if (changed.length === 0) return;
  if (builtMs > 0 && sources.length === changed.length) transpile(sources);
  else execFileSync(process.execPath, [NEST, 'build'], { stdio: 'inherit' });
}

function inputs(): string[] {
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).map((path) => join('src', path));
  return [...SETTINGS, 'src', ...sources].filter((path) => !path.endsWith('.spec.ts'));
}

/** Without a check of the types, which takes longer than most tests. */
function transpile(sources: string[]): void {
  const begun = new Date();
  const { config } = ts.readConfigFile('tsconfig.json', (path) => readFileSync(path, 'utf8')) as {
    config: { compilerOptions: object };
  };
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, '.');
  for (const source of sources) {
    const built = join('dist', source.slice('src/'.length).replace(/\.ts$/, '.js'));
    const fileName = basename(source);
    const { outputText, sourceMapText } = ts.transpileModule(readFileSync(source, 'utf8'), {
      fileName,
      compilerOptions: { ...options, module: ts.ModuleKind.ESNext, noEmit: false },
    });
    writeFileSync(built, outputText);
    if (sourceMapText !== undefined) writeFileSync(`${built}.map`, sourceMapText);
  }
  utimesSync(BUILT, begun, begun);
}
