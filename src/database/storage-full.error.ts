import { Problem } from '../problems/problem.js';

const RETRY_AFTER_SECONDS = 30;

/** The write was rolled back: the database answers, but has no space for it. */
export class StorageFullError extends Problem {
  constructor(cause: unknown) {
    super('storage_full', { headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) }, cause });
  }
}
