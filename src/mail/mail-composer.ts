import type { Mail } from './mail.entity.js';
import type { TemplateName } from './template.js';

export interface MailText {
  template: TemplateName;
  code?: string;
  /** of an invitation: as they stand in the text */
  organization?: string;
  inviter?: string;
}

/** Decides, when a mail is sent, what it says. Each attempt asks again; the code stays the same. */
export abstract class MailComposer {
  /** undefined: there is nobody to tell, or nothing any more */
  abstract compose(mail: Mail): Promise<MailText | undefined>;
}
