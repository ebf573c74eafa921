import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/** The file, or the directory that it should stand in, is not there and cannot be made. */
export class DatabaseFileError extends Error {}

const MAX_LINKS = 40;
/** SQLite file format, section 1.3.1 */
const HEADER = 'SQLite format 3\0';

/**
 * The file behind symbolic links, dangling ones included, as SQLite follows them: however it is called, one
 * file has one lock.
 *
 * @throws DatabaseFileError when there is no directory that it could be in
 */
export function realPath(path: string, links = MAX_LINKS): string {
  if (existsSync(path)) return realpathSync(path);
  const directory = dirname(path);
  if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory()) {
    throw new DatabaseFileError(`there is no directory ${directory}`);
  }
  const file = join(realpathSync(directory), basename(path));
  const target = linkTarget(file);
  return target === undefined || links === 0 ? file : realPath(resolve(dirname(file), target), links - 1);
}

function linkTarget(file: string): string | undefined {
  try {
    return readlinkSync(file);
  } catch {
    return undefined;
  }
}

/** @throws DatabaseFileError */
export function createDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new DatabaseFileError((error as Error).message);
  }
}

/**
 * Makes an empty file, which SQLite takes as a new database, for its owner alone, unless there is one. SQLite
 * itself would let the umask decide; what it makes beside a database has the mode of the database.
 *
 * @throws DatabaseFileError
 */
export function createFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if (!existsSync(file)) throw new DatabaseFileError((error as Error).message);
  }
}

/**
 * Refuses what is neither a database nor an empty file, to be asked before its mode is changed and a lock is made
 * beside it. Not while this process has the database open: closing the file would end SQLite's own locks on it.
 *
 * @throws DatabaseFileError
 */
export function refuseOtherFile(file: string): void {
  if (!existsSync(file)) return;
  const stats = statSync(file);
  if (!stats.isFile() || (stats.size > 0 && beginningOf(file) !== HEADER)) {
    throw new DatabaseFileError(`${file} is not a database`);
  }
}

function beginningOf(file: string): string {
  const bytes = Buffer.alloc(HEADER.length);
  try {
    const descriptor = openSync(file, 'r');
    readSync(descriptor, bytes);
    closeSync(descriptor);
  } catch (error) {
    throw new DatabaseFileError((error as Error).message);
  }
  return bytes.toString('latin1');
}
