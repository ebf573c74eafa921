import { Logger } from '@nestjs/common';
import { isStorageFull } from './database-errors.js';

/** No event tells when there is space again, but writes, also without requests, are more frequent than this. */
const REMEMBERED_MS = 60_000;

/** Remembers whether the database lately failed for lack of space, which reading alone does not tell. */
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

/** A global, since the adapters, which see every statement fail, are made outside the application's modules. */
export const storageSpace = new StorageSpace();
