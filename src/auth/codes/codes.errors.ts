import { Problem } from '../../problems/problem.js';

/** For the log only. A wrong verifier makes a code unknown; a code ends when it expires, its session ends, or ten newer ones of that session are unused. */
export type CodeRefusal = 'malformed' | 'unknown' | 'ended' | 'reused';

/** The client is not told why. */
export class InvalidCodeError extends Problem {
  constructor(reason: CodeRefusal) {
    super('invalid_code', { reason });
  }
}
