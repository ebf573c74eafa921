import { mkdtempSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const TMPFS = 0x0102_1994;

/** On a disk: in memory, durable commits would cost nothing. */
export function diskDirectory(): string {
  const parent = [tmpdir(), '/var/tmp', process.cwd()].find((path) => isOnDisk(path));
  if (parent === undefined) throw new Error('No directory on a disk to put the database in; set TMPDIR');
  return mkdtempSync(join(parent, 'accounts-bench-'));
}

function isOnDisk(path: string): boolean {
  try {
    return statfsSync(path).type !== TMPFS;
  } catch {
    return false;
  }
}
