import type { ProblemCode } from './problem-codes.js';

/** A rule refuses what an operator asked for; the message says what the rule is. */
export class RefusedError extends Error {
  /**
   * @param code by which the rule is known over HTTP, too, if it can refuse anything there
   * @param detail of the problem over HTTP, by default the text of the code
   */
  constructor(
    message: string,
    readonly code?: ProblemCode,
    readonly detail?: string,
  ) {
    super(code === undefined ? message : `${message} (${code})`);
  }
}
