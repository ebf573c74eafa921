import { chmodSync, lstatSync } from 'node:fs';
import { Logger } from '@nestjs/common';

const GROUP_AND_OTHERS = 0o077;
const OWNER_READS_AND_WRITES = 0o600;

/** Removes the access of group and others, and logs it; leaves files of another user as they are. */
export function makePrivate(files: string[]): void {
  // On Windows the reported modes mean nothing.
  if (process.platform === 'win32') return;
  const logger = new Logger('Database');
  for (const file of files.filter(isOpenToOthers)) {
    if (close(file)) logger.warn({ msg: 'file was readable by others; its mode is now 0600', file });
    else logger.warn({ msg: 'file is readable by others, and its mode could not be changed', file });
  }
}

function isOpenToOthers(file: string): boolean {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  return stats?.isFile() === true && (stats.mode & GROUP_AND_OTHERS) !== 0;
}

function close(file: string): boolean {
  try {
    const { mode, uid } = lstatSync(file);
    if (uid === process.getuid?.()) chmodSync(file, mode & OWNER_READS_AND_WRITES);
  } catch {
    // The file was deleted meanwhile, or the file system refuses; FAT only seems to obey.
  }
  return !isOpenToOthers(file);
}
