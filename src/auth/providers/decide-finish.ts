import type { User } from '../../users/user.entity.js';
import type { ProviderSettings } from './provider-settings.js';

type FinishUser = Pick<User, 'disabledAt' | 'secondFactorAt'>;

type EmailOwner = FinishUser &
  Pick<User, 'emailVerifiedAt' | 'operatorSince'> & {
    /** subject of another user of the provider who is linked to this user */
    linkedTo: string | null;
  };

export interface FinishFacts {
  settings: Pick<ProviderSettings, 'createUsers' | 'linkByEmail'>;
  /** the user with the identity */
  known: FinishUser | undefined;
  /** what `trustedEmail` returned */
  email: string | undefined;
  /** the user with that email, which is looked up only if no user has the identity */
  owner: EmailOwner | undefined;
  password: 'absent' | 'unchecked' | 'wrong' | 'right';
  hasCode: boolean;
}

export type FinishRefusal =
  | 'provider_email_refused'
  | 'registration_closed'
  | 'identity_taken'
  | 'link_required'
  | 'wrong_password'
  | 'account_disabled'
  | 'second_factor_code_required';

/** With `needsCode`, the code is checked before the outcome is carried out. */
export type FinishOutcome =
  | { kind: 'refuse'; code: FinishRefusal }
  | { kind: 'check_password' }
  | { kind: 'create' }
  | { kind: 'log_in'; needsCode: boolean }
  | { kind: 'link'; via: 'email' | 'password'; needsCode: boolean };

/** @param isOfDomain whether the provider speaks for the domain of the email */
export function trustedEmail(
  { email, emailVerified }: { email: string | null; emailVerified: boolean },
  isOfDomain: boolean,
  { trustEmails }: Pick<ProviderSettings, 'trustEmails'>,
): string | undefined {
  return email !== null && isOfDomain && (emailVerified || trustEmails) ? email : undefined;
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

function refuse(code: FinishRefusal): FinishOutcome {
  return { kind: 'refuse', code };
}
