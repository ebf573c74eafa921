import type { ListedApiKey } from '../api-keys/api-keys.repository.js';
import type { CreatedUser } from '../accounts/user-operations.js';
import type { EmailCode } from '../auth/email-codes/email-codes.repository.js';
import { type FailureCount, fullUntil } from '../auth/second-factor/second-factor-failures.repository.js';
import type { LoginTrace } from '../auth/sessions/login-traces.repository.js';
import type { ProviderDomain } from '../auth/providers/provider-domains.repository.js';
import { fieldsOf } from '../auth/providers/provider-changes.js';
import { areReadable, callbackUri, shownSetting } from '../auth/providers/provider-settings.js';
import type { Provider } from '../auth/providers/providers.repository.js';
import type { Env } from '../config/env.js';
import type { ProviderSummary } from './providers.responses.js';
import type { ServiceSecret } from '../services/service-secrets.repository.js';
import type { Service } from '../services/services.repository.js';
import type { ScheduledKey } from '../auth/tokens/signing-keys.js';
import type { Mail } from '../mail/mail.entity.js';
import type { ListedMember } from '../orgs/state/members.lists.js';
import type { OrgStatus } from '../orgs/state/org.entity.js';
import type { ListedOrg } from '../orgs/state/orgs.repository.js';
import type { HeldLimit } from '../rate-limits/login-limits.js';
import { storedScopes } from '../services/service-secrets.js';
import { type Profile, profileOf } from '../users/profile.js';
import { loginTraceView, type UserView } from '../users/user-view.js';
import type {
  AdminApiKey,
  AdminMember,
  KeyStatus,
  EmailSummary,
  OrgSummaryDto,
  SecretSummary,
  ServiceSummary,
} from './operators.responses.js';
import type { AdminUser, CreatedUserResponse, LoginLimit, UserSummary } from './users.responses.js';
import { timeOrNull, timeText } from '../identifiers/text.js';

export const ORG_STATUSES: readonly OrgStatus[] = ['active', 'deleted', 'ownerless'];

export function accountView(user: UserView): UserSummary {
  const { id, email, emailVerifiedAt, createdAt, disabledAt, operatorSince, secondFactorAt } = user;
  return {
    id,
    email,
    emailVerified: emailVerifiedAt !== null,
    createdAt: timeText(createdAt),
    disabledAt: timeOrNull(disabledAt),
    operator: operatorSince !== null,
    secondFactor: secondFactorAt !== null,
  };
}

export function accountWithProfile(user: UserView): UserSummary & Profile {
  return { ...accountView(user), ...profileOf(user) };
}

export function accountDetails(user: UserView, trace: LoginTrace | null): AdminUser {
  const passwordChangedAt = timeOrNull(user.passwordChangedAt);
  return { ...accountWithProfile(user), passwordChangedAt, ...loginTraceView(trace) };
}

export function loginLimitsView(
  held: readonly HeldLimit[],
  failures: FailureCount | undefined,
): LoginLimit[] {
  const limits: { limit: LoginLimit['limit']; until: number }[] = [...held];
  const until = fullUntil(failures);
  if (until !== undefined) limits.push({ limit: 'second_factor', until });
  return limits.map((one) => ({ limit: one.limit, until: timeText(one.until) }));
}

export function createdUserView(
  { user, code }: CreatedUser,
  textOf: (code: EmailCode) => string,
): CreatedUserResponse {
  const shown = accountDetails(user, null);
  return code ? { user: shown, code: textOf(code), expiresAt: timeText(code.expiresAt) } : { user: shown };
}

export function orgView({ id, name, createdAt, deletedAt, purgeAt }: ListedOrg): OrgSummaryDto {
  return {
    id,
    name,
    createdAt: timeText(createdAt),
    deletedAt: timeOrNull(deletedAt),
    purgeAt: timeOrNull(purgeAt),
  };
}

export function adminMemberView({ userId, email, role, disabled = false }: ListedMember): AdminMember {
  return { userId, email, role, disabled };
}

export function serviceView({ name, allow, createdAt, disabledAt, removedAt }: Service): ServiceSummary {
  return {
    name,
    allow: storedScopes(allow),
    createdAt: timeText(createdAt),
    disabledAt: timeOrNull(disabledAt),
    removedAt: timeOrNull(removedAt),
  };
}

export function providerView(
  provider: Provider,
  allDomains: readonly ProviderDomain[],
  { jwtIssuer }: Env,
): ProviderSummary {
  const { name, issuer } = provider;
  const isDamaged = !areReadable(provider.settings);
  const fields = fieldsOf(isDamaged ? { ...provider, settings: '{}' } : provider, allDomains);
  return {
    name,
    issuer,
    ...fields,
    redirectUri: callbackUri(jwtIssuer, name) ?? null,
    createdAt: timeText(provider.createdAt),
    disabledAt: timeOrNull(provider.disabledAt),
    require: fields.require && shownSetting(fields.require),
    ...(isDamaged && { damaged: true }),
  };
}

export function adminApiKeyView(key: ListedApiKey): AdminApiKey {
  const { id, name, audience, role, state, userId, email, orgId } = key;
  return {
    id,
    name,
    audience,
    role,
    state,
    createdAt: timeText(key.createdAt),
    expiresAt: timeText(key.expiresAt),
    lastUsedAt: timeOrNull(key.lastUsedAt),
    user: { id: userId, email },
    orgId,
  };
}

export function secretView({ id, createdAt, lastUsedAt, revokedAt }: ServiceSecret): SecretSummary {
  return {
    id,
    createdAt: timeText(createdAt),
    lastUsedAt: timeOrNull(lastUsedAt),
    revokedAt: timeOrNull(revokedAt),
  };
}

export function mailView(mail: Mail): EmailSummary {
  const { id, kind, recipient, state, attempts, createdAt, expiresAt, endedAt, lastError } = mail;
  return {
    id,
    kind,
    recipient,
    state,
    attempts,
    createdAt: timeText(createdAt),
    nextAttemptAt: state === 'waiting' ? timeText(mail.nextAttemptAt || createdAt) : null,
    expiresAt: timeOrNull(expiresAt),
    endedAt: timeOrNull(endedAt),
    lastError,
  };
}

export function keyView({ kid, state, signsFrom, signedUntil }: ScheduledKey): KeyStatus {
  return { kid, state, signsFrom: timeOrNull(signsFrom || undefined), signedUntil: timeOrNull(signedUntil) };
}
