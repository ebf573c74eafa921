import { Problem } from '../problems/problem.js';

const RETRY_AFTER_SECONDS = 30;

export class StorageFullError extends Problem {
  constructor(cause: unknown) {
    super('storage_full', { headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) }, cause });
  }
}
