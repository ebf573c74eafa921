import { Problem } from '../../problems/problem.js';

/** Only logged. `unknown` includes a wrong verifier; `ended` includes ten newer unused codes of the same session. */
export type CodeRefusal = 'malformed' | 'unknown' | 'ended' | 'reused';

export class InvalidCodeError extends Problem {
  constructor(reason: CodeRefusal) {
    super('invalid_code', { reason });
  }
}
