import { VouchedEmails } from '../../auth/mail-codes/vouched-emails.js';
import { canonicalEmail } from '../../users/email-address.js';
import { CannotRunError } from '../cannot-run.error.js';
import type { Invocation, Report } from '../command.js';
import { changeUser } from './change-user.js';

export async function setEmail(invocation: Invocation): Promise<Report> {
  const { parameters, options } = invocation;
  const email = canonicalEmail(parameters[1]);
  if (email === undefined) throw new CannotRunError('expected the new e-mail as the second parameter');
  const isVerified = options['verified'] === true;
  return changeUser(invocation, {
    make: (services, user, actor) => services.get(VouchedEmails).replace(user, { email, isVerified, actor }),
    done: `the e-mail is ${email} now, ${isVerified ? 'verified' : 'not verified'}`,
    unchanged: 'already has this e-mail',
  });
}
