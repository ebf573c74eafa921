import { Problem } from '../problems/problem.js';

export class MailUnavailableError extends Problem {
  constructor() {
    super('mail_unavailable');
  }
}

export class SendingFailedError extends Error {
  /** @param isFinal the server refuses this mail, and always will (RFC 5321 section 4.2.1) */
  constructor(
    /** codes only, because a server can answer anything, even a password */
    readonly words: string,
    readonly isFinal: boolean,
  ) {
    super(words);
  }
}
