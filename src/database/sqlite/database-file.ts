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

export class DatabaseFileError extends Error {}

const MAX_LINKS = 40;
/** SQLite file format, section 1.3.1 */
const HEADER = 'SQLite format 3\0';

/** Follows dangling links too, as SQLite does, so that one file has one lock. */
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

// Creates parents one by one, since Node's `recursive` never ends on file systems that have a directory but make none
// in it, such as /proc.
export function createDirectory(directory: string): void {
  if (existsSync(directory)) return;
  const parent = dirname(directory);
  if (parent !== directory) createDirectory(parent);
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!existsSync(directory)) throw new DatabaseFileError((error as Error).message);
  }
}

/** Sets the mode, where SQLite would use the umask; the files that it adds get the mode of the database. */
export function createFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if (!existsSync(file)) throw new DatabaseFileError((error as Error).message);
  }
}

/** Call it before this process opens the file: closing it here would end SQLite's locks. */
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
