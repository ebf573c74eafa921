import { chmodSync, lstatSync } from 'node:fs';
import { Logger } from '@nestjs/common';

const GROUP_AND_OTHERS = 0o077;
const OWNER_READS_AND_WRITES = 0o600;

/** Closes the files to the group and the others, and says so; a file of another user is left as it is. */
export function makePrivate(files: string[]): void {
  // Windows has no modes: what it reports there means nothing.
  if (process.platform === 'win32') return;
  const logger = new Logger('Database');
  for (const file of files.filter(isOpenToOthers)) {
    if (close(file)) logger.warn({ msg: 'could be read by others: its mode is 0600 now', file });
    else logger.warn({ msg: 'can be read by others, and its mode could not be changed', file });
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
    // It is gone meanwhile, or its file system refuses; FAT only seems to obey.
  }
  return !isOpenToOthers(file);
}
