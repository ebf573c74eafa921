import { constants, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { isAccessible } from './find-program.ts';

const MEMORY_DISK = '/dev/shm';
/** Containers often have only 64 MB there, which a database outgrows. */
const MIN_FREE_BYTES = 1024 ** 3;

/** Where temporary directories with databases go: in memory where there is room. An explicit TMPDIR applies here, too. */
export function temporaryParent(): string {
  return process.env['TMPDIR'] === undefined && hasRoomyMemoryDisk() ? MEMORY_DISK : tmpdir();
}

function hasRoomyMemoryDisk(): boolean {
  if (!isAccessible(MEMORY_DISK, constants.W_OK)) return false;
  const { bavail, bsize } = statfsSync(MEMORY_DISK);
  return bavail * bsize > MIN_FREE_BYTES;
}
