import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { DatabaseSync } from 'node:sqlite';
import { ACQUIRE_TIMEOUT_MS, acquireTimeoutError, isFileBusy } from '../transactions/database-errors.js';
import { createFile } from './database-file.js';

type Leave = () => void;

export class Mutex {
  private held = false;
  private readonly waiting = new Set<() => void>();

  get isFree(): boolean {
    return !this.held;
  }

  /** @throws an error with code POOL_ACQUIRE_TIMEOUT */
  enter(): Promise<Leave> {
    if (this.held) return this.wait();
    this.held = true;
    return Promise.resolve(this.leave);
  }

  private wait(): Promise<Leave> {
    return new Promise((resolve, reject) => {
      const admit = (): void => {
        clearTimeout(timer);
        resolve(this.leave);
      };
      const timer = setTimeout(() => {
        this.waiting.delete(admit);
        reject(acquireTimeoutError());
      }, ACQUIRE_TIMEOUT_MS);
      this.waiting.add(admit);
    });
  }

  private readonly leave = (): void => {
    const [next] = this.waiting;
    this.held = next !== undefined;
    if (next === undefined) return;
    this.waiting.delete(next);
    next();
  };
}

const POLL_MS = 5;
const WARN_AFTER_MS = 100;

// Polls while another process, such as a command, writes to the file: SQLite's own wait would block this process. `work`
// must release everything if it fails.
export async function whenFree<T>(work: () => Promise<T>): Promise<T> {
  const began = performance.now();
  let isWarned = false;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isFileBusy(error)) throw error;
      const waitedMs = performance.now() - began;
      if (waitedMs > ACQUIRE_TIMEOUT_MS) throw acquireTimeoutError();
      if (waitedMs > WARN_AFTER_MS && !isWarned) {
        new Logger('Database').warn('another process keeps the database file locked');
        isWarned = true;
      }
    }
    await sleep(POLL_MS);
  }
}

export class DatabaseInUseError extends Error {
  constructor(file: string) {
    super(
      `DATABASE_URL: another process is using ${file}; SQLite serves one process, use MySQL or MariaDB for several`,
    );
  }
}

// Excludes a second service, but neither readers nor the transactions of commands. `file` is the real path, since a lock
// beside a symbolic link excludes no process.
export function lockSqliteFile(file: string): () => void {
  const unlock = holdLock(`${file}.lock`);
  if (!unlock) throw new DatabaseInUseError(file);
  return unlock;
}

/** The operating system ends an exclusive transaction however the process ends. */
export function holdLock(file: string): (() => void) | undefined {
  createFile(file);
  const lock = new DatabaseSync(file);
  try {
    lock.exec('PRAGMA journal_mode = MEMORY');
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    if (isBusy(error)) return undefined;
    throw error;
  }
  return () => lock.close();
}

const SQLITE_BUSY = 5;

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY;
}
