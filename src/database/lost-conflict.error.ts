import { UnavailableError } from '../problems/problem.js';

/** A unit of work lost against others, every time that it was tried; nothing of it took effect. */
export class LostConflictError extends UnavailableError {
  constructor(cause: unknown) {
    super('Too many others are changing the same thing; repeat the request.', 1, cause);
  }
}
