import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { bringUpToDate } from './bring-up-to-date.ts';

const PROJECT = resolve(import.meta.dirname, '../..');
const COPIED = [
  'nest-cli.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'package.json',
  'package-lock.json',
  'node_modules',
];

let root: string;

/** A small service that was just built. */
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'accounts-build-'));
  for (const name of COPIED) symlinkSync(join(PROJECT, name), join(root, name));
  mkdirSync(join(root, 'src'));
  mkdirSync(join(root, 'dist'));
  write('color.ts', "export type Color = 'red';");
  write('paint.dto.ts', "import type { Color } from './color.js';\nexport class PaintDto { color: Color; }");
  write('unused.ts', 'export const unused = 1;');
  write('main.ts', "import { unused } from './unused.js';\nconsole.log(unused);");
  writeFileSync(join(root, 'dist', 'main.js'), 'built');
  writeFileSync(join(root, 'dist', 'unused.js'), 'built');
});
afterEach(() => rmSync(root, { recursive: true }));

function write(file: string, content: string): void {
  writeFileSync(join(root, 'src', file), content);
}

function built(file: string): string {
  return readFileSync(join(root, 'dist', file), 'utf8');
}

it('compiles nothing while the sources are as they were', () => {
  expect(bringUpToDate(root)).toEqual([]);
  expect(bringUpToDate(root)).toEqual([]);

  expect(built('main.js')).toBe('built');
});

it('compiles a file that changed, and no other', () => {
  bringUpToDate(root);
  write('main.ts', 'console.log(2 as number);');

  expect(bringUpToDate(root)).toEqual(['src/main.ts']);

  expect(built('main.js')).toContain('console.log(2);');
  expect(built('unused.js')).toBe('built');
  expect(bringUpToDate(root)).toEqual([]);
});

it('takes away what was made of a file that is gone', () => {
  bringUpToDate(root);
  rmSync(join(root, 'src', 'unused.ts'));

  bringUpToDate(root);

  expect(existsSync(join(root, 'dist', 'unused.js'))).toBe(false);
});

it('writes the description of a model anew when a type in it changed elsewhere', () => {
  bringUpToDate(root);
  write('color.ts', "export type Color = 'red' | 'green';");

  bringUpToDate(root);

  expect(built('paint.dto.js')).toContain('"green"');
});
