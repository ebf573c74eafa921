import type { Env } from '../config/env.js';
import { Problem } from '../problems/problem.js';

const NEEDS_INVITATION =
  'Registration here needs an invitation to this email. Send its code as invitationCode.';

export const FOREIGN_DOMAIN = {
  code: 'registration_closed',
  detail:
    'This installation accepts no email of this domain. Use an email of another domain, or ask the operator of this installation.',
} as const;

/** Operators and imports are exempt. */
export function requireAcceptedDomain({ registrationDomains }: Env, email: string): void {
  const domain = email.slice(email.lastIndexOf('@') + 1);
  if (registrationDomains?.includes(domain) !== false) return;
  throw new Problem(FOREIGN_DOMAIN.code, { detail: FOREIGN_DOMAIN.detail, reason: 'domain' });
}

/** Reads no row, so that the answer does not depend on whether the email is registered. */
export function requireRegistrable(
  env: Env,
  { email, invitationCode = null }: { email: string; invitationCode?: string | null },
): void {
  if (env.registration === 'closed') throw new Problem('registration_closed', { reason: 'closed' });
  requireAcceptedDomain(env, email);
  if (env.registration === 'invited' && invitationCode === null)
    throw new Problem('registration_closed', { detail: NEEDS_INVITATION, reason: 'invitation' });
}
