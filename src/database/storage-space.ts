import { Logger } from '@nestjs/common';
import { isStorageFull } from './database-errors.js';

/** Nothing says when there is space again; writes are made more often than that, also without requests. */
const REMEMBERED_MS = 60_000;

/** Whether the database lately failed for lack of space, which reading alone does not tell. */
class StorageSpace {
  private lastFullAt = Number.NEGATIVE_INFINITY;

  get isFull(): boolean {
    return performance.now() - this.lastFullAt < REMEMBERED_MS;
  }

  noteFailure(error: unknown): void {
    if (!isStorageFull(error)) return;
    if (!this.isFull) new Logger('Database').error('the disk of the database is full: writes are refused');
    this.lastFullAt = performance.now();
  }
}

/** The adapters, which see every statement fail, are made outside of the application's modules. */
export const storageSpace = new StorageSpace();
