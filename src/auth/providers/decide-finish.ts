import type { ProblemCode } from '../../problems/problem-codes.js';
import type { LinkableUser } from './identities.repository.js';
import type { ConfirmedLogin } from './provider-logins.repository.js';
import type { ProviderSettings } from './provider-settings.js';

type FinishUser = Pick<LinkableUser, 'disabledAt' | 'secondFactorAt'>;

export interface FinishFacts {
  settings: Pick<ProviderSettings, 'createUsers' | 'linkByEmail'>;
  /** the user with the identity */
  known: FinishUser | undefined;
  /** what `trustedEmail` returned */
  email: string | undefined;
  /** the user with that email, which is looked up only if no user has the identity */
  owner: (FinishUser & Pick<LinkableUser, 'emailVerifiedAt' | 'operatorSince' | 'linkedTo'>) | undefined;
  password: 'absent' | 'unchecked' | 'wrong' | 'right';
  hasCode: boolean;
}

/** With `needsCode`, the code is checked before the outcome is carried out. */
export type FinishOutcome =
  | { kind: 'refuse'; code: ProblemCode }
  | { kind: 'check_password' }
  | { kind: 'create' }
  | { kind: 'log_in'; needsCode: boolean }
  | { kind: 'link'; via: 'email' | 'password'; needsCode: boolean };

/** Undefined unless the provider speaks for the domain of the email, and its word about the email counts. */
export function trustedEmail(
  { email, emailVerified, isOfDomain }: Pick<ConfirmedLogin, 'email' | 'emailVerified' | 'isOfDomain'>,
  { trustEmails }: Pick<ProviderSettings, 'trustEmails'>,
): string | undefined {
  const isTrusted = isOfDomain === 1 && (emailVerified === 1 || trustEmails);
  return isTrusted && email !== null ? email : undefined;
}

/** The table of interface-5-login section 2, in its order: an email says nothing about an identity that is known. */
export function decideFinish(facts: FinishFacts): FinishOutcome {
  const { settings, known, email, owner, password } = facts;
  if (known) return admit(known, facts, { kind: 'log_in' });
  if (email === undefined) return refuse('provider_email_refused');
  if (!owner) return settings.createUsers ? { kind: 'create' } : refuse('registration_closed');
  if (owner.linkedTo !== null) return refuse('identity_taken');
  const isProven = settings.linkByEmail && owner.emailVerifiedAt !== null && owner.operatorSince === null;
  if (isProven) return admit(owner, facts, { kind: 'link', via: 'email' });
  if (password === 'absent') return refuse('link_required');
  if (password === 'unchecked') return { kind: 'check_password' };
  if (password === 'wrong') return refuse('wrong_password');
  return admit(owner, facts, { kind: 'link', via: 'password' });
}

function admit(
  { disabledAt, secondFactorAt }: FinishUser,
  { hasCode }: FinishFacts,
  outcome: { kind: 'log_in' } | { kind: 'link'; via: 'email' | 'password' },
): FinishOutcome {
  if (disabledAt !== null) return refuse('account_disabled');
  const needsCode = secondFactorAt !== null;
  return needsCode && !hasCode ? refuse('second_factor_code_required') : { ...outcome, needsCode };
}

function refuse(code: ProblemCode): FinishOutcome {
  return { kind: 'refuse', code };
}
