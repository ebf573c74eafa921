import { VouchedEmails } from '../../auth/mail-codes/vouched-emails.js';
import type { Invocation, Report } from '../command.js';
import { changeUser } from './change-user.js';

export function verifyEmail(invocation: Invocation): Promise<Report> {
  return changeUser(invocation, {
    make: (services, { id }, actor) => services.get(VouchedEmails).verify(id, actor),
    done: 'the e-mail is verified',
    unchanged: 'the e-mail was verified before',
  });
}
