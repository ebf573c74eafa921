import type { Actor } from '../access/principal.js';
import {
  BOOLEAN,
  type ContentOf,
  type Definition,
  deliveredTo,
  type Fields,
  ID,
  listOf,
  newer,
  NUMBER,
  optional,
  ROLE,
  TEXT,
  TEXTS,
  TIME_OR_NULL,
  TRUE,
  withInternal,
  words,
} from './event-fields.js';

const SUSPENDED = { suspended: optional(TRUE) };
const SECOND_FACTOR = { reason: words('second_factor') };
const FORCED = { force: optional(TRUE) };
const INVITATION = { invitationId: ID, role: ROLE };
const SERVICE = { service: TEXT };
const CALL = { service: TEXT, to: TEXT };
const SECRET = { service: TEXT, secretId: ID };
const PROVIDER = { provider: TEXT };
const KEY = { kid: TEXT };
const API_KEY = { keyId: ID, service: TEXT, role: ROLE };
const REVOKED_KEY = { keyId: ID, reason: words('revoked', 'reported', 'operator', 'mailbox_reset') };

/** These show who has a second factor, so the feed gives the reason of any other end by the same actor. */
const SECOND_FACTOR_CHANGES = ['second_factor_enabled', 'second_factor_removed'] as const;

const ENDED_BY = withInternal(
  words(
    'logout',
    'revoked',
    'too_many',
    'code_reused',
    'refresh_reused',
    'password_changed',
    'account_disabled',
    'account_deleted',
    'operator',
  ),
  ...SECOND_FACTOR_CHANGES,
);

const delivered = deliveredTo('all services');
const internal = deliveredTo('no service');
const deliveredToItself = deliveredTo('that service');

const ofUserOrMember = <F extends Fields>(data: F) =>
  [
    { about: 'account', data },
    { about: 'membership', data },
  ] as const;

// The OpenAPI document of the feed and docs/reference/events.md follow from it.
const CATALOGUE = {
  'account.registered': delivered(
    'account',
    'A user registered, an operator created or imported the user, or the first login at a provider did.',
    { via: optional(words('import', 'operator', 'provider')), provider: optional(TEXT) },
  ),
  'account.profile_changed': delivered(
    'account',
    'The user changed the profile. The event contains no values.',
    { changed: listOf('name', 'avatarUrl', 'locale') },
  ),
  'account.password_changed': delivered('account', 'The password was changed.'),
  'account.email_verified': delivered('account', 'The email was verified.'),
  'account.email_changed': delivered(
    'account',
    'The email was changed. `verified` is set if an operator changed it, and says whether the email is ' +
      'verified. Without it, a verification code has verified the email.',
    { verified: optional(BOOLEAN) },
  ),
  'account.reset_code_issued': internal('account', 'An operator issued a reset code.'),
  'account.second_factor_enabled': internal('account', 'Two-factor authentication was turned on.'),
  'account.second_factor_removed': internal('account', 'Two-factor authentication was turned off.'),
  'account.recovery_codes_renewed': internal('account', 'New recovery codes replaced the previous ones.'),
  'account.recovery_code_used': internal('account', 'A recovery code was used.'),
  'account.identity_linked': internal(
    'account',
    'A user of a provider was linked to the user, who can log in there from now on. `via` says what proved it: the ' +
      'login that created the user, the verified email, the password, or an operator.',
    { provider: TEXT, via: words('created', 'email', 'password', 'operator') },
  ),
  'account.identity_unlinked': internal(
    'account',
    'The user can no longer log in at the provider. Every session of the user was revoked.',
    { provider: TEXT },
  ),
  'account.operator_granted': internal(
    'account',
    'The command line made the user an operator, with `force` without two-factor authentication.',
    FORCED,
  ),
  'account.operator_revoked': internal('account', 'The user is no longer an operator.'),
  'account.disabled': delivered('account', 'An operator disabled the user.', FORCED),
  'account.enabled': delivered('account', 'An operator enabled the user again.'),
  'account.unblocked': internal(
    'account',
    'An operator lifted the login limits and the count of wrong TOTP codes of the user.',
  ),
  'account.deleted': delivered('account', 'The user was deleted.', FORCED),
  'session.started': delivered(
    'session',
    'A user logged in, by password or at `provider`. `newDevice` is set if the user has not used the IP network and ' +
      'the kind of user agent within 90 days.',
    { via: words('register', 'login'), newDevice: optional(TRUE), provider: optional(TEXT) },
  ),
  'session.ended': {
    deliveredTo: 'all services',
    meaning:
      'A session was revoked or, with `all`, all sessions of the user. Then reject access tokens with a lower ' +
      '`epoch` or with none, except those of the session `except`.',
    forms: [
      { about: 'session', data: { reason: ENDED_BY } },
      {
        about: 'sessions',
        data: { reason: ENDED_BY, all: TRUE, except: optional(ID), epoch: newer(NUMBER) },
      },
    ],
  },
  'org.created': delivered('organization', 'An organization was created.'),
  'org.renamed': delivered('organization', 'An organization was renamed.'),
  'org.deleted': delivered(
    'organization',
    'An organization was deleted. It can be restored for a time.',
    FORCED,
  ),
  'org.restored': delivered('organization', 'A deleted organization was restored, with its members.', FORCED),
  'org.purged': delivered('organization', 'A deleted organization was purged. It cannot be restored.'),
  'org.second_factor_required': delivered(
    'organization',
    'An owner changed the time from which members need two-factor authentication. `from` is null if they need none.',
    { from: TIME_OR_NULL },
  ),
  'org.second_factor_due': delivered(
    'organization',
    'From now on, members without two-factor authentication are suspended. Read the memberships of the organization again.',
  ),
  'org.orphaned': delivered('membership', 'An operator disabled or deleted the last enabled owner.', {
    reason: words('owner_disabled', 'owner_deleted'),
    force: TRUE,
  }),
  'member.added': delivered('membership', 'A user became a member.', {
    role: ROLE,
    via: words('created', 'added', 'invitation'),
    force: optional(TRUE),
    ...SUSPENDED,
  }),
  'member.role_changed': delivered('membership', 'The role of a member was changed.', {
    from: ROLE,
    to: ROLE,
    ...SUSPENDED,
  }),
  'member.suspended': delivered(
    'membership',
    'A member lost the second factor that the organization requires, and keeps the role.',
    SECOND_FACTOR,
  ),
  'member.resumed': delivered(
    'membership',
    'A suspended member turned on two-factor authentication.',
    SECOND_FACTOR,
  ),
  'member.removed': delivered('membership', 'A user is no longer a member.', {
    role: ROLE,
    reason: words('removed', 'left', 'account_deleted'),
  }),
  'invitation.created': delivered('organization', 'An email address was invited.', INVITATION),
  'invitation.resent': delivered(
    'organization',
    'An invitation was resent, with a new code and a new time of expiry.',
    INVITATION,
  ),
  'invitation.revoked': delivered('organization', 'An invitation was revoked.', {
    ...INVITATION,
    reason: words(
      'revoked',
      'member_added',
      'inviter_removed',
      'inviter_left',
      'inviter_demoted',
      'inviter_disabled',
      'inviter_deleted',
      'org_deleted',
    ),
  }),
  'invitation.accepted': delivered('membership', 'A user accepted an invitation.', INVITATION),
  'invitation.declined': delivered('membership', 'A user declined an invitation.', INVITATION),
  'key.created': {
    deliveredTo: 'that service',
    meaning:
      'A user made an API key for the service, or an admin made one of an organization. `role` is the most that it may have.',
    forms: ofUserOrMember(API_KEY),
  },
  'key.revoked': {
    deliveredTo: 'all services',
    meaning: 'An API key was revoked. Reject it, and tokens whose claim `key` names it.',
    forms: ofUserOrMember(REVOKED_KEY),
  },
  'keys.rotated': internal('keys', 'A signing key was added.', KEY),
  'keys.pruned': internal('keys', 'A signing key was removed.', KEY),
  'service.created': deliveredToItself('service', 'A service was added.', { ...SERVICE, allow: TEXT }),
  'service.allowed': deliveredToItself('service', 'The scopes of a service were changed.', {
    ...SERVICE,
    from: TEXT,
    to: TEXT,
  }),
  'service.secret_added': deliveredToItself('service', 'A secret was added to a service.', SECRET),
  'service.secret_revoked': deliveredToItself('service', 'A secret of a service was revoked.', SECRET),
  'service.sessions_ended': deliveredToItself(
    'service',
    'Every delegated session of the service was revoked.',
    SERVICE,
  ),
  'service.disabled': deliveredToItself(
    'service',
    'A service was disabled. Every delegated session of the service was revoked.',
    SERVICE,
  ),
  'service.enabled': deliveredToItself('service', 'A service was enabled again.', SERVICE),
  'service.removed': deliveredToItself(
    'service',
    'A service was removed. Every delegated session of the service was revoked.',
    SERVICE,
  ),
  'service.tokens_ended': delivered(
    'service',
    'Every access token that names the service has ended. Reject tokens whose `act`, `sub` or `aud` names it.',
    SERVICE,
  ),
  'service.call_allowed': deliveredToItself(
    'service',
    'An operator allowed the service to call the service `to`.',
    CALL,
  ),
  'service.call_revoked': delivered(
    'service',
    'An operator revoked the calls of the service to the service `to`. Reject tokens that the service got for such calls.',
    CALL,
  ),
  'provider.added': internal('provider', 'A provider was added.', PROVIDER),
  'provider.changed': internal(
    'provider',
    'Settings of a provider were changed. The event contains no values.',
    { ...PROVIDER, changed: TEXTS },
  ),
  'provider.secret_set': internal('provider', 'The secret of a provider was replaced.', PROVIDER),
  'provider.disabled': internal(
    'provider',
    'A provider was disabled: users cannot log in there. Their sessions go on, unless events of the users end them.',
    PROVIDER,
  ),
  'provider.enabled': internal('provider', 'A provider was enabled again.', PROVIDER),
  'provider.removed': internal(
    'provider',
    'A provider was removed, with the identities of its users.',
    PROVIDER,
  ),
  'mail.retried': internal('mail', 'An operator retried an email or, with `all`, all failed emails.', {
    mailId: optional(ID),
    all: optional(TRUE),
  }),
} as const;

export type EventType = keyof typeof CATALOGUE;

export const EVENT_TYPES = Object.keys(CATALOGUE) as EventType[];

export function isSecondFactorChange(reason: unknown): boolean {
  return SECOND_FACTOR_CHANGES.some((one) => one === reason);
}

export function definitionOf(type: EventType): Definition | undefined {
  return (CATALOGUE as Partial<Record<EventType, Definition>>)[type];
}

type EventContent<Type extends EventType> = Type extends EventType
  ? { type: Type } & ContentOf<(typeof CATALOGUE)[Type]['forms'][number]>
  : never;

export type NewEvent<Type extends EventType = EventType> = { actor: Actor } & EventContent<Type>;

export type EventWithout<Column extends PropertyKey, Type extends EventType = EventType> = OmitFromEach<
  NewEvent<Type>,
  Column
>;

type OmitFromEach<Union, Column extends PropertyKey> = Union extends unknown ? Omit<Union, Column> : never;
