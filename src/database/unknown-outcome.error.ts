import { UnavailableError } from '../problems/problem.js';
import { isOutcomeUnknown } from './database-errors.js';

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
