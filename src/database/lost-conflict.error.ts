import { UnavailableError } from '../problems/problem.js';

/** Every attempt of a unit of work lost a conflict; nothing took effect. */
export class LostConflictError extends UnavailableError {
  constructor(cause: unknown) {
    super('Too many concurrent changes of the same data; repeat the request.', 1, cause);
  }
}
