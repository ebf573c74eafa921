import { Problem } from '../../problems/problem.js';

/** Only logged. `unknown` includes a wrong verifier; `ended` includes ten newer unused codes of the same session. */
export type CodeRefusal = 'malformed' | 'unknown' | 'ended' | 'reused';

/** Message for the field `audience`. */
export const NO_SERVICE = 'must be the name of an enabled service';

export class AudienceRequiredError extends Problem {
  constructor() {
    super('audience_required');
  }
}

export class InvalidCodeError extends Problem {
  constructor(reason: CodeRefusal) {
    super('invalid_code', { reason });
  }
}
