import { normalizedEmail } from '../../users/email-address.js';
import { PROFILE } from '../../users/profile.js';
import { isSubject, type ProviderSettings } from './provider-settings.js';

/** The payload of an ID token or the answer of the UserInfo endpoint. */
export type ProviderClaims = Readonly<Record<string, unknown>>;

/** A user as a provider has confirmed them. */
export interface ConfirmedUser {
  subject: string;
  /** normalized; null if absent */
  email: string | null;
  /** what the provider says of this email; `trustEmails` is not part of it */
  emailVerified: boolean;
  name: string | null;
  /** epoch milliseconds, never in the future; null if the provider names none */
  authTime: number | null;
}

/** Codes that the callback passes to the program. */
export type ProviderLoginError =
  | 'provider_denied'
  | 'provider_unavailable'
  | 'insufficient_user_authentication';

export interface ProviderRefusal {
  kind: 'refused';
  error: ProviderLoginError;
  /** for the log; contains no value of a claim */
  reason: string;
}

export interface ClaimRules {
  settings: Pick<ProviderSettings, 'emailClaim' | 'require' | 'subjectClaim' | 'trustEmails'>;
  /** epoch milliseconds */
  now: number;
  sessionMaxAge: number;
  maxAge?: number | undefined;
  /** A prompt after the password can take longer than any leeway, so `maxAge` is measured from the start. */
  startedAt: number;
}

const LEEWAY_SECONDS = 30;

/** Whether the ID token lacks what the provider may still say about the email. */
export function needsUserInfo(idToken: ProviderClaims, { settings }: Pick<ClaimRules, 'settings'>): boolean {
  if (emailOf(idToken, settings) === undefined) return true;
  return !settings.trustEmails && idToken['email_verified'] === undefined;
}

/** @param idToken verified @param userInfo of the same `sub` */
export function readClaims(
  idToken: ProviderClaims,
  userInfo: ProviderClaims | undefined,
  rules: ClaimRules,
): ({ kind: 'accepted' } & ConfirmedUser) | ProviderRefusal {
  const { settings, now } = rules;
  const subject = idToken[settings.subjectClaim];
  if (!isSubject(subject))
    return refused('provider_unavailable', `${settings.subjectClaim} is not a text of 1 to 255 characters`);
  if (settings.require && !hasClaim(idToken, settings.require))
    return refused('provider_denied', 'the required claim is absent or differs');

  const authTime = typeof idToken['auth_time'] === 'number' ? idToken['auth_time'] * 1000 : undefined;
  const tooOld = ageProblem(authTime, rules);
  if (tooOld !== undefined) return refused('insufficient_user_authentication', tooOld);

  // Nothing says that an email in one document is verified by the other one.
  const source = userInfo && emailOf(userInfo, settings) !== undefined ? userInfo : idToken;
  return {
    kind: 'accepted',
    subject,
    email: emailOf(source, settings) ?? null,
    emailVerified: settings.emailClaim === 'email' && isVerified(source),
    name: PROFILE.name.read(idToken['name'] ?? userInfo?.['name']) ?? null,
    authTime: authTime === undefined ? null : Math.min(Math.floor(authTime), now),
  };
}

function emailOf(
  claims: ProviderClaims,
  { emailClaim }: Pick<ProviderSettings, 'emailClaim'>,
): string | undefined {
  return normalizedEmail(claims[emailClaim]);
}

function hasClaim(claims: ProviderClaims, { name, value }: { name: string; value: string }): boolean {
  const actual = claims[name];
  return Array.isArray(actual) ? actual.includes(value) : actual === value;
}

/** Cognito sends a text. */
function isVerified({ email_verified: claim }: ProviderClaims): boolean {
  return claim === true || claim === 'true';
}

function ageProblem(authTime: number | undefined, rules: ClaimRules): string | undefined {
  const { now, maxAge, sessionMaxAge } = rules;
  if (authTime === undefined) return maxAge === undefined ? undefined : 'the provider names no auth_time';
  // The clock of the instance that started the login may be ahead.
  const ageAtStart = (Math.min(rules.startedAt, now) - authTime) / 1000;
  if (maxAge !== undefined && ageAtStart > maxAge + LEEWAY_SECONDS) return 'auth_time is older than maxAge';
  return (now - authTime) / 1000 >= sessionMaxAge ? 'auth_time is older than SESSION_MAX_AGE' : undefined;
}

function refused(error: ProviderLoginError, reason: string): ProviderRefusal {
  return { kind: 'refused', error, reason };
}
