import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Everything that `dist` is made of, by its path in the project: a hash of its content. */
export type Inputs = Record<string, string>;

const SETTINGS = ['nest-cli.json', 'tsconfig.json', 'tsconfig.build.json', 'package-lock.json'];

export function readInputs(root: string): Inputs {
  return Object.fromEntries(
    inputFiles(root).map((file) => [
      file,
      createHash('sha256')
        .update(readFileSync(join(root, file)))
        .digest('hex'),
    ]),
  );
}

/** When one of them was last written, in milliseconds. */
export function newestInput(root: string): number {
  return Math.max(...inputFiles(root).map((file) => statSync(join(root, file)).mtimeMs));
}

/** Those that differ, that are new, or that are gone. */
export function changedInputs(before: Inputs, now: Inputs): string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(now)])].filter(
    (file) => before[file] !== now[file],
  );
}

function inputFiles(root: string): string[] {
  const sources = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.spec.ts'))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1));
  return [...sources, ...SETTINGS];
}
