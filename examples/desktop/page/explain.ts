import type { ProblemOf } from 'accounts-client';
import type { ProviderLoginProblem } from 'accounts-client/loopback';
import type { ShownProblem } from '../bridge.ts';

type Code = ProblemOf['code'] | ProviderLoginProblem['code'];

/** What users read. `detail` is for developers, and good enough for the rest. Translate this table. */
const MESSAGES: Partial<Record<Code, string>> = {
  already_invited: 'There is an invitation to this email.',
  email_taken: 'This email is registered. Log in instead.',
  insufficient_user_authentication: 'Your login is too old for this. Log out, and log in again.',
  invalid_challenge: 'The login took too long. Enter your password again.',
  invalid_credentials: 'The email or the password is wrong.',
  invalid_email_code: 'This code is wrong, expired or used.',
  invalid_invitation_code: 'This code is wrong, expired or used, or was sent to another email.',
  invalid_second_factor_code: 'This code is wrong. Enter the digits that your app shows now.',
  last_owner: 'An organization needs an owner. Make another member owner first.',
  link_required: 'A user has this email. Enter the password at Accounts, once, to connect both.',
  not_logged_in: 'Your session has ended. Please log in again.',
  password_common: 'This password is too common. Choose another one.',
  precondition_failed: 'This was changed elsewhere. Open it again.',
  second_factor_code_used: 'This code was used. Wait for the next one in your app.',
  second_factor_not_enabled: 'Turn on two-factor authentication for yourself first.',
  store_failed: 'The keyring of this computer is locked. Unlock it and try again.',
  timed_out: 'Accounts did not answer in time. Are you online?',
  unreachable: 'Accounts cannot be reached. Are you online?',
  wrong_password: 'The password is wrong.',
};

export function explain({ code, detail, retryAfter, errors }: ShownProblem): string {
  if (code === 'rate_limited') return `Too many attempts. Try again in ${retryAfter ?? 60} seconds.`;
  if (code === 'validation_failed')
    return `Please correct this: ${errors!.map((each) => each.message).join(', ')}.`;
  return MESSAGES[code as Code] ?? detail;
}
