import type { Mail } from './mail.entity.js';
import type { TemplateName } from './template.js';

export interface MailText {
  template: TemplateName;
  code?: string;
  /** set for invitations only, and made harmless already, as is `inviter` */
  organization?: string;
  inviter?: string;
}

export type WaitingMail = Pick<
  Mail,
  'id' | 'kind' | 'recipient' | 'codeId' | 'senderId' | 'priority' | 'attempts'
>;

/** Decides what mails of one kind say, at the time of sending. Each attempt asks again; the code stays the same. */
export interface MailComposer {
  /** Returns undefined if there is nobody, or no longer anything, to tell. */
  compose(mail: Mail): Promise<MailText | undefined>;

  /** Finds mails that nobody would get, with one query for all of them. `compose` finds those that it misses. */
  findPointless?(mails: readonly WaitingMail[]): Promise<string[]>;
}
