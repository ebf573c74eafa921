import { Problem, UnavailableError } from '../../problems/problem.js';
import { isOutcomeUnknown } from './database-errors.js';

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
