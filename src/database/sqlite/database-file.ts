import { closeSync, existsSync, mkdirSync, openSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/** The file, or the directory that it should stand in, is not there and cannot be made. */
export class DatabaseFileError extends Error {}

const MAX_LINKS = 40;

/**
 * The file behind symbolic links, dangling ones included, as SQLite follows them: however it is called, one
 * file has one lock.
 *
 * @throws DatabaseFileError when there is no directory that it could be in
 */
export function realPath(path: string, links = MAX_LINKS): string {
  if (existsSync(path)) return realpathSync(path);
  const directory = dirname(path);
  if (!existsSync(directory)) throw new DatabaseFileError(`there is no directory ${directory}`);
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
