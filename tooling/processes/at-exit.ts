import type { ChildProcess } from 'node:child_process';
import { constants, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isAccessible } from './find-program.ts';

const MEMORY_DISK = '/dev/shm';
/** Containers often have only 64 MB there, which a database outgrows. */
const MIN_FREE_BYTES = 1024 ** 3;

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
  // An explicit TMPDIR applies here, too.
  const parent = process.env['TMPDIR'] === undefined && hasRoomyMemoryDisk() ? MEMORY_DISK : tmpdir();
  return removeAtExit(mkdtempSync(join(parent, `accounts-${prefix}-`)));
}

export function removeAtExit(directory: string): string {
  directories.add(directory);
  return directory;
}

export function removeDirectory(directory: string): void {
  rmSync(directory, { recursive: true, force: true });
  directories.delete(directory);
}

function hasRoomyMemoryDisk(): boolean {
  if (!isAccessible(MEMORY_DISK, constants.W_OK)) return false;
  const { bavail, bsize } = statfsSync(MEMORY_DISK);
  return bavail * bsize > MIN_FREE_BYTES;
}
