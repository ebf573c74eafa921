import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { median } from './median.ts';
import { commentsOf } from './prose/prose-of.ts';

const PROJECT = join(import.meta.dirname, '..');
const BOUNDS = {
  lines: 41_500,
  files: 385,
  small: 12,
  long: 0,
  providers: 15,
  smallLines: 20,
  longLines: 300,
};

interface SourceFile {
  path: string;
  text: string;
  lines: number;
}

/** Prints the sizes that the architecture is held to, and names the files and modules that exceed them. */
function printCounts(): void {
  const src = read('src/**/*.ts').filter(({ path }) => !path.endsWith('.spec.ts'));
  const tests = [
    ...read('src/**/*.spec.ts'),
    ...read('test/**/*.ts'),
    ...read('{client,tooling}/**/*.spec.ts'),
  ];
  const small = src.filter(({ path, lines }) => lines < BOUNDS.smallLines && !path.endsWith('.module.ts'));
  const long = src.filter(({ lines }) => lines > BOUNDS.longLines);
  const large = src.map(providersOf).filter(({ count }) => count > BOUNDS.providers);
  const comments = sum(src.map(({ path, text }) => commentLines(path, text)));

  print('lines', sum(src.map(({ lines }) => lines)), `at most ${BOUNDS.lines}`);
  print('files', src.length, `at most ${BOUNDS.files}`);
  print('median lines of a file', median(src.map(({ lines }) => lines)), '60 to 130');
  print(`files under ${BOUNDS.smallLines} lines`, small.length, `at most ${BOUNDS.small}`);
  print(`files over ${BOUNDS.longLines} lines`, long.length, 'none', long);
  print(`modules with over ${BOUNDS.providers} providers`, large.length, 'none', large);
  print('repositories', sum(src.map(({ text }) => repositoriesIn(text))), 'one for each table');
  print('entities', src.filter(({ path }) => path.endsWith('.entity.ts')).length, '');
  print('one line of comment in', Math.round(sum(src.map(({ lines }) => lines)) / comments), 'about 20');
  print('folders', new Set(src.map(({ path }) => dirname(path))).size, '');
  print('test files', tests.filter(({ path }) => path.endsWith('spec.ts')).length, '');
  print('test lines', sum(tests.map(({ lines }) => lines)), '');
}

function read(pattern: string): SourceFile[] {
  return globSync(pattern, { cwd: PROJECT, exclude: ['**/node_modules/**'] }).map((path) => {
    const text = readFileSync(join(PROJECT, path), 'utf8');
    return { path, text, lines: text.split('\n').length - 1 };
  });
}

/** A file can have the repositories of several tables, and a table's statements can fill two files. */
function repositoriesIn(text: string): number {
  return text.match(/^export class \w+Repository /gm)?.length ?? 0;
}

/** The names in the `providers` of a module. */
function providersOf({ path, text }: SourceFile): { path: string; count: number } {
  const [, list = ''] = /\bproviders: \[([^\]]*)\]/.exec(text) ?? [];
  return {
    path,
    count: /^@Module\(/m.test(text)
      ? list
          .replaceAll(/\{[^}]*\}|\/\/.*/g, 'one')
          .split(',')
          .filter((name) => name.trim()).length
      : 0,
  };
}

function commentLines(path: string, text: string): number {
  const comments = commentsOf(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true));
  return sum(comments.map(([start, end]) => text.slice(start, end).split('\n').length));
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function print(
  name: string,
  count: number | undefined,
  bound: string,
  places: { path: string }[] = [],
): void {
  console.log(`${name.padEnd(36)} ${String(count).padStart(6)}  ${bound}`.trimEnd());
  for (const { path } of places) console.log(`  ${path}`);
}

printCounts();
