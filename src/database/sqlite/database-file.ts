import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Logger } from '@nestjs/common';
import { ConfigurationError } from '../../config/variables.js';

const GROUP_AND_OTHERS = 0o077;
const OWNER_READS_AND_WRITES = 0o600;

export function makePrivate(files: string[]): void {
  if (process.platform === 'win32') return;
  const logger = new Logger('Database');
  for (const file of files.filter(isOpenToOthers)) {
    denyOthers(file);
    if (!isOpenToOthers(file))
      logger.warn({ msg: 'file was readable by others; its mode is now 0600', file });
    else logger.warn({ msg: 'file is readable by others, and its mode could not be changed', file });
  }
}

function isOpenToOthers(file: string): boolean {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  return stats?.isFile() === true && (stats.mode & GROUP_AND_OTHERS) !== 0;
}

function denyOthers(file: string): void {
  try {
    const { mode, uid } = lstatSync(file);
    if (uid === process.getuid?.()) chmodSync(file, mode & OWNER_READS_AND_WRITES);
  } catch {
    // The file was deleted meanwhile, or the file system refuses.
  }
}

export class DatabaseFileError extends Error {}

const MAX_LINKS = 40;
const HEADER = 'SQLite format 3\0';

/** Follows dangling links as SQLite does, so that one file has one lock. */
export function realPath(path: string, links = MAX_LINKS): string {
  if (existsSync(path)) return realpathSync(path);
  const directory = dirname(path);
  if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory()) {
    throw new DatabaseFileError(`there is no directory ${directory}`);
  }
  const file = join(realpathSync(directory), basename(path));
  const isLink = lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  return isLink && links > 0 ? realPath(resolve(dirname(file), readlinkSync(file)), links - 1) : file;
}

/** Node's `recursive` never ends on file systems such as /proc, which create no directory. */
export function createDirectory(directory: string): void {
  if (existsSync(directory)) return;
  const parent = dirname(directory);
  if (parent !== directory) createDirectory(parent);
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    if (!existsSync(directory)) throw new DatabaseFileError((error as Error).message);
  }
}

/** SQLite itself would use the umask, and it gives its other files the mode of the database. */
export function createFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if (!existsSync(file)) throw new DatabaseFileError((error as Error).message);
  }
}

export function syncFile(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Makes the names in a directory durable. Windows cannot open a directory. */
export function syncDirectory(directory: string): void {
  if (process.platform !== 'win32') syncFile(directory);
}

/** Call it before this process opens the database, because closing the file ends the locks of SQLite. */
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

export class DatabaseInUseError extends ConfigurationError {
  constructor(file: string) {
    const remedy = 'SQLite serves one process, use MySQL or MariaDB for several';
    super([`DATABASE_URL: another process is using ${file}; ${remedy}`]);
  }
}

const SQLITE_BUSY = 5;

/** The operating system ends the exclusive transaction even if the process crashes. */
export function holdLock(file: string): (() => void) | undefined {
  createFile(file);
  const lock = new DatabaseSync(file);
  try {
    lock.exec('PRAGMA journal_mode = MEMORY');
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return undefined;
    throw error;
  }
  return () => lock.close();
}
