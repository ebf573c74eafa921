import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import ts from 'typescript';

const NEST = 'node_modules/@nestjs/cli/bin/nest.js';
const BUNDLER = 'tooling/bundle.ts';
const BUILT = 'build/main.js';
const BUNDLE = 'dist/main.js';
const SETTINGS = ['nest-cli.json', 'tsconfig.json', 'tsconfig.build.json', 'package-lock.json'];

/** Compiled alone. Of a controller or a DTO the plugin in nest-cli.json documents the types, which takes all of them. */
const SIMPLE_SOURCE = /(?<!\.(?:controller|d|requests?|query|responses?))\.ts$/;

/** Tests run the built service: builds again what is newer, and all of it unless that is a few simple sources. */
export default function setup(): void {
  build();
  const bundled = [BUILT, BUNDLER, ...filesIn('tooling/openapi', '')];
  if (modifiedMs(BUNDLE) < Math.max(...bundled.map(modifiedMs)))
    execFileSync(process.execPath, [BUNDLER], { stdio: 'inherit' });
}

const modifiedMs = (path: string): number => (existsSync(path) ? statSync(path).mtimeMs : 0);

function build(): void {
  const builtMs = modifiedMs(BUILT);
  const sources = filesIn('src', '.ts').filter((path) => !path.endsWith('.spec.ts'));
  const changed = [...SETTINGS, ...filesIn('src', '.txt'), ...sources].filter(
    (path) => statSync(path).mtimeMs >= builtMs,
  );
  const isWhole = builtMs > 0 && filesIn('build', '.js').every((path) => sources.includes(sourceOf(path)));
  if (isWhole && changed.length === 0) return;
  if (isWhole && changed.every((path) => SIMPLE_SOURCE.test(path))) transpile(changed);
  else execFileSync(process.execPath, [NEST, 'build'], { stdio: 'inherit' });
}

function filesIn(folder: string, suffix: string): string[] {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return paths.filter((path) => path.endsWith(suffix)).map((path) => join(folder, path));
}

const sourceOf = (built: string): string => built.replace(/^build/, 'src').replace(/\.js$/, '.ts');
const builtOf = (source: string): string => source.replace(/^src/, 'build').replace(/\.ts$/, '.js');

/** Without a check of the types, which takes longer than most tests. */
function transpile(sources: string[]): void {
  const begun = new Date();
  const { config } = ts.readConfigFile('tsconfig.json', (path) => readFileSync(path, 'utf8')) as {
    config: { compilerOptions: object };
  };
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, '.');
  for (const source of sources) {
    const built = builtOf(source);
    const fileName = basename(source);
    const { outputText, sourceMapText } = ts.transpileModule(readFileSync(source, 'utf8'), {
      fileName,
      compilerOptions: { ...options, module: ts.ModuleKind.ESNext, noEmit: false },
    });
    mkdirSync(dirname(built), { recursive: true });
    writeFileSync(built, outputText);
    if (sourceMapText !== undefined) writeFileSync(`${built}.map`, sourceMapText);
  }
  utimesSync(BUILT, begun, begun);
}
