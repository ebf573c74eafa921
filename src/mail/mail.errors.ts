import { Problem, RefusedError } from '../problems/problem.js';
import type { MailKind, MailState } from './mail.entity.js';
import type { Excess } from './mails.limits.js';

export class TooManyMailsError extends Problem {
  constructor(kind: MailKind, { waitMs, refusal }: Excess) {
    super('rate_limited', {
      detail: refusal,
      headers: { 'Retry-After': String(Math.ceil(waitMs / 1000)) },
      limit: `mail-${kind.replaceAll('_', '-')}`,
    });
  }
}

export class MailNotFoundError extends RefusedError {
  constructor() {
    super('there is no such mail', 'mail_not_found');
  }
}

export class MailEndedError extends RefusedError {
  /** @param state one in which an email is sent again only until its code expires */
  constructor(state: MailState) {
    super(`the mail is ${state === 'failed' || state === 'waiting' ? 'expired' : state}`, 'mail_ended');
  }
}

export class MailObsoleteError extends RefusedError {
  constructor(reason: string) {
    super(reason, 'mail_obsolete', `The mail is not sent: ${reason}.`);
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
