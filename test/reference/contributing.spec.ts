import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const PAGE = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8');
const CODE = Array.from(PAGE.matchAll(/`([^`\n]+)`/g), ([, text]) => text!);

const isThere = (pattern: string): boolean => globSync(pattern, { cwd: ROOT }).length > 0;
const rowsBelow = (heading: string): string[] =>
  Array.from(
    new RegExp(`^## ${heading}\n.*?(?=^## )`, 'ms').exec(PAGE)![0].matchAll(/^\| (`.*?) +\|/gm),
    ([, cell]) => cell!,
  );

it('names only paths that exist', () => {
  const paths = CODE.filter((text) =>
    /^(?:src|test|tooling|client|docs|bench|deploy|\.ci)\/[^\s…]*$/.test(text),
  );
  expect(paths.length).toBeGreaterThan(50);
  expect(paths.filter((path) => !isThere(path))).toEqual([]);
});

it('names only files that exist, also without their folders', () => {
  const names = CODE.filter((text) => /^[a-z][\w.-]*\.ts$/.test(text));
  expect(names.length).toBeGreaterThan(5);
  expect(names.filter((name) => !isThere(`{src,test,tooling,client/src,bench}/**/${name}`))).toEqual([]);
});

it('names only scripts that exist', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: object };
  const named = Array.from(PAGE.matchAll(/npm run ([\w:]+)/g), ([, name]) => name!);
  expect([...new Set(named)].filter((name) => !(name in scripts))).toEqual([]);
});

it('names every folder of src, and no other', () => {
  const named = rowsBelow('The folders of src').flatMap((cell) =>
    Array.from(cell.matchAll(/`([^`]+)`/g), ([, folder]) => folder!),
  );
  expect(named.filter((folder) => !isThere(`src/${folder}`))).toEqual([]);
  const folders = globSync('src/{*,auth/*,orgs/*}/', { cwd: ROOT }).map((folder) =>
    folder.slice(4).replace(/\/$/, ''),
  );
  expect(folders.filter((folder) => !named.includes(folder))).toEqual([]);
});
