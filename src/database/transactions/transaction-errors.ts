import { Logger } from '@nestjs/common';
import { Problem, UnavailableError } from '../../problems/problem.js';
import { isOutcomeUnknown, isStorageFull } from './database-errors.js';

/** Every attempt of a transaction lost a conflict; nothing took effect. */
export class LostConflictError extends UnavailableError {
  constructor(cause: unknown) {
    super('Too many concurrent changes of the same data; repeat the request.', 1, cause);
  }
}

/** A COMMIT or a single write was sent and not answered: it may have taken effect. */
export class UnknownOutcomeError extends UnavailableError {
  constructor(cause: unknown) {
    super('The database did not answer; whether the request took effect is unknown.', 1, cause);
  }
}

export async function detectUnknownOutcome<T>(statement: () => Promise<T>): Promise<T> {
  try {
    return await statement();
  } catch (error) {
    throw isOutcomeUnknown(error) ? new UnknownOutcomeError(error) : error;
  }
}

const RETRY_AFTER_SECONDS = 30;

export class StorageFullError extends Problem {
  constructor(cause: unknown) {
    super('storage_full', { headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) }, cause });
  }
}

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
