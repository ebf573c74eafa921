import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryParent } from './temporary-parent.ts';

const children = new Set<ChildProcess>();
const directories = new Set<string>();

process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  for (const directory of directories) rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
});
// By default a signal ends a process without its `exit` event; test runners end their workers by SIGTERM.
process.once('SIGTERM', () => process.exit(143));

/** The child ends with this process, and before any directory is removed. */
export function killAtExit(child: ChildProcess): void {
  children.add(child);
  for (const event of ['exit', 'error']) child.once(event, () => children.delete(child));
}

/** A new temporary directory, in memory where there is room, removed at the end of this process. */
export function temporaryDirectory(prefix: string): string {
  return removeAtExit(mkdtempSync(join(temporaryParent(), `accounts-${prefix}-`)));
}

export function removeAtExit(directory: string): string {
  directories.add(directory);
  return directory;
}

export function removeDirectory(directory: string): void {
  rmSync(directory, { recursive: true, force: true });
  directories.delete(directory);
}
