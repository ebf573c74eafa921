import { OnlyOwnerError, OrgsNeedOwnerError } from '../orgs/state/orgs.errors.js';
import { Problem, RefusedError } from '../problems/problem.js';

export const NO_SUCH_USER = 'No user has this id.';

export class NoSuchUserError extends Problem {
  constructor() {
    super('user_not_found', { detail: NO_SUCH_USER });
  }
}

export class NoSuchServiceError extends Problem {
  constructor() {
    super('service_not_found');
  }
}

/** Answers the rules that refuse a command with the problems of the same codes. */
export async function asProblems<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof OnlyOwnerError) throw new OrgsNeedOwnerError(error);
    if (error instanceof RefusedError && error.code !== undefined) {
      const { code, detail } = error;
      throw new Problem(code, detail === undefined ? {} : { detail });
    }
    throw error;
  }
}
