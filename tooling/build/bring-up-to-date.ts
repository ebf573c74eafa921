import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileFiles } from './compile.ts';
import { withImports } from './imports.ts';
import { changedInputs, type Inputs, newestInput, readInputs } from './inputs.ts';
import { SwaggerPlugin } from './swagger-plugin.ts';

const NEST = 'node_modules/@nestjs/cli/bin/nest.js';

/**
 * Makes `dist` what `nest build` would make of the sources as they are now, and compiles no more for it than what
 * changed. Types are not checked.
 * @returns what was compiled
 */
export function bringUpToDate(root: string): string[] {
  const stamp = join(root, 'dist', '.inputs.json');
  const now = readInputs(root);
  const before = readStamp(root, stamp, now);
  const changed = before ? changedInputs(before, now) : ['everything'];

  if (changed.every((file) => file.startsWith('src/') && file.endsWith('.ts'))) update(root, changed, now);
  else execFileSync(process.execPath, [join(root, NEST), 'build'], { cwd: root, stdio: 'inherit' });
  if (changed.length > 0 || !existsSync(stamp)) writeFileSync(stamp, JSON.stringify(now));
  return changed;
}

/** `nest build` leaves no stamp: what it made is whole if it is newer than everything that it was made of. */
function readStamp(root: string, stamp: string, now: Inputs): Inputs | undefined {
  if (existsSync(stamp)) return JSON.parse(readFileSync(stamp, 'utf8')) as Inputs;
  const main = join(root, 'dist', 'main.js');
  return existsSync(main) && statSync(main).mtimeMs >= newestInput(root) ? now : undefined;
}

function update(root: string, changed: readonly string[], now: Inputs): void {
  const gone = changed.filter((file) => now[file] === undefined);
  for (const file of gone) rmSync(output(root, file), { force: true });
  const present = changed.filter((file) => now[file] !== undefined);
  if (present.length > 0) compileFiles(root, [...present, ...modelsThatMayDiffer(root, present, now)]);
}

/** The description of a model holds types of files that it imports. */
function modelsThatMayDiffer(root: string, changed: readonly string[], now: Inputs): string[] {
  const plugin = new SwaggerPlugin(root);
  const models = Object.keys(now).filter((file) => plugin.isModel(file) && !changed.includes(file));
  const described = withImports(root, models);
  return changed.some((file) => described.has(file)) ? models : [];
}

function output(root: string, file: string): string {
  return join(root, file.replace(/^src/, 'dist').replace(/\.ts$/, '.js'));
}
