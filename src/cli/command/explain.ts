import { explainFailure } from '../../app/start-failure.js';
import { LostConflictError } from '../../database/transactions/database-errors.js';
import { Problem, RefusedError, UnavailableError } from '../../problems/problem.js';
import { CannotRunError, RestoredDatabaseError } from './definition.js';

export function explain(error: unknown): { lines: string[]; isRefusal: boolean } {
  const isUnknown = error instanceof RefusedError && error.code === 'mail_not_found';
  if (error instanceof CannotRunError || isUnknown) {
    return { lines: [`error: ${error.message}`], isRefusal: false };
  }
  if (error instanceof RefusedError || error instanceof RestoredDatabaseError)
    return { lines: [`refused: ${error.message}`], isRefusal: true };
  if (error instanceof LostConflictError) {
    const again =
      'error: other transactions kept changing the same data. Nothing was changed; run the command again';
    return { lines: [again], isRefusal: false };
  }
  if (error instanceof Problem && !(error instanceof UnavailableError)) {
    return { lines: [`refused: ${error.detail} (${error.code})`], isRefusal: true };
  }
  return { lines: explainFailure(error), isRefusal: false };
}
