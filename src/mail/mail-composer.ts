import type { Mail } from './mail.entity.js';
import type { TemplateName } from './template.js';

export interface MailText {
  template: TemplateName;
  code?: string;
  /** of an invitation: as they stand in the text */
  organization?: string;
  inviter?: string;
}

/** As the worker finds it. */
export type WaitingMail = Pick<
  Mail,
  'id' | 'kind' | 'recipient' | 'codeId' | 'senderId' | 'priority' | 'attempts'
>;

/** Decides, when a mail is sent, what it says. Each attempt asks again; the code stays the same. */
export abstract class MailComposer {
  /** undefined: there is nobody to tell, or nothing any more */
  abstract compose(mail: Mail): Promise<MailText | undefined>;

  /** The ids of those that nobody would get, by one query for all of them. What it misses, `compose` finds. */
  abstract findPointless(mails: readonly WaitingMail[]): Promise<string[]>;
}
