import type { Actor } from '../access/principal.js';
import {
  BOOLEAN,
  type ContentOf,
  type Definition,
  event,
  ID,
  newer,
  NUMBER,
  optional,
  ROLE,
  TEXT,
  TRUE,
  untold,
  words,
} from './event-definitions.js';

const FORCED = { force: optional(TRUE) };
const INVITATION = { invitationId: ID, role: ROLE };
const SERVICE = { service: TEXT };
const SECRET = { service: TEXT, secretId: ID };
const KEY = { kid: TEXT };

/** These show who has a second factor, so the feed gives the reason of any other end by the same actor. */
const SECOND_FACTOR_CHANGES = ['second_factor_enabled', 'second_factor_removed'] as const;

const ENDED_BY = untold(
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

// The OpenAPI document of the feed and docs/reference.md follow from it.
const CATALOGUE = {
  'account.registered': event('all services', 'account', 'a user registered, or an operator imported them', {
    via: optional(words('import')),
  }),
  'account.password_changed': event('all services', 'account', 'the password was changed'),
  'account.email_verified': event('all services', 'account', 'the e-mail was verified'),
  'account.email_changed': event(
    'all services',
    'account',
    'the e-mail was changed; `verified` tells whether the operator who changed it vouches for it, and without it a mailed code has verified it',
    { verified: optional(BOOLEAN) },
  ),
  'account.reset_code_issued': event(
    'no service',
    'account',
    'an operator handed out a code that sets a new password',
  ),
  'account.second_factor_enabled': event('no service', 'account', 'the second factor was enabled'),
  'account.second_factor_removed': event('no service', 'account', 'the second factor was removed'),
  'account.recovery_codes_renewed': event(
    'no service',
    'account',
    'new recovery codes replaced the old ones',
  ),
  'account.recovery_code_used': event('no service', 'account', 'a recovery code was used up'),
  'account.operator_granted': event(
    'no service',
    'account',
    'somebody with a shell made the user an operator; with `force` without a second factor',
    FORCED,
  ),
  'account.operator_revoked': event('no service', 'account', 'the user is no operator any more'),
  'account.disabled': event('all services', 'account', 'an operator disabled the account', FORCED),
  'account.enabled': event('all services', 'account', 'an operator enabled the account again'),
  'account.deleted': event('all services', 'account', 'the account was deleted', FORCED),
  'session.started': event('all services', 'session', 'a user logged in by password', {
    via: words('register', 'login'),
  }),
  'session.ended': {
    toldTo: 'all services',
    meaning:
      'a session ended before its time or, with `all`, all sessions of the account: a token with a lower `epoch`, or with none, has ended, but not one of the session `except`',
    forms: [
      { about: 'session', data: { reason: ENDED_BY } },
      {
        about: 'sessions',
        data: { reason: ENDED_BY, all: TRUE, except: optional(ID), epoch: newer(NUMBER) },
      },
    ],
  },
  'org.created': event('all services', 'organization', 'an organization was created'),
  'org.renamed': event('all services', 'organization', 'an organization was renamed'),
  'org.deleted': event(
    'all services',
    'organization',
    'an organization was deleted; it can be restored for a time',
    FORCED,
  ),
  'org.restored': event(
    'all services',
    'organization',
    'a deleted organization was restored, with its members',
    FORCED,
  ),
  'org.purged': event('all services', 'organization', 'the rest of a deleted organization was deleted'),
  'org.orphaned': event(
    'all services',
    'membership',
    'an operator disabled or deleted the last owner who could act',
    { reason: words('owner_disabled', 'owner_deleted'), force: TRUE },
  ),
  'member.added': event('all services', 'membership', 'a user became a member', {
    role: ROLE,
    via: words('created', 'added', 'invitation'),
    force: optional(TRUE),
  }),
  'member.role_changed': event('all services', 'membership', 'a member has another role', {
    from: ROLE,
    to: ROLE,
  }),
  'member.removed': event('all services', 'membership', 'a user is no member any more', {
    role: ROLE,
    reason: words('removed', 'left', 'account_deleted'),
  }),
  'invitation.created': event('all services', 'organization', 'somebody was invited', INVITATION),
  'invitation.resent': event(
    'all services',
    'organization',
    'an invitation has a new code, and a new end',
    INVITATION,
  ),
  'invitation.revoked': event('all services', 'organization', 'an invitation was revoked', {
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
  'invitation.accepted': event('all services', 'membership', 'a user accepted an invitation', INVITATION),
  'invitation.declined': event('all services', 'membership', 'a user declined an invitation', INVITATION),
  'keys.rotated': event('no service', 'keys', 'a signing key was added', KEY),
  'keys.pruned': event('no service', 'keys', 'a signing key was removed', KEY),
  'service.created': event('that service', 'service', 'a service was added', { ...SERVICE, allow: TEXT }),
  'service.allowed': event('that service', 'service', 'a service is allowed something else', {
    ...SERVICE,
    from: TEXT,
    to: TEXT,
  }),
  'service.secret_added': event('that service', 'service', 'a service has a new secret', SECRET),
  'service.secret_revoked': event('that service', 'service', 'a secret of a service was revoked', SECRET),
  'service.sessions_ended': event(
    'that service',
    'service',
    'every session that a code for this service opened has ended',
    SERVICE,
  ),
  'service.disabled': event(
    'that service',
    'service',
    'a service was disabled; every session that a code for it opened has ended',
    SERVICE,
  ),
  'service.enabled': event('that service', 'service', 'a service was enabled again', SERVICE),
  'service.removed': event(
    'that service',
    'service',
    'a service was removed; every session that a code for it opened has ended',
    SERVICE,
  ),
  'mail.retried': event(
    'no service',
    'mail',
    'an operator had a mail sent now or, with `all`, all that failed',
    {
      mailId: optional(ID),
      all: optional(TRUE),
    },
  ),
} as const;

export type EventType = keyof typeof CATALOGUE;

export const EVENT_TYPES = Object.keys(CATALOGUE) as EventType[];

export function isSecondFactorChange(reason: unknown): boolean {
  return SECOND_FACTOR_CHANGES.some((one) => one === reason);
}

/** Returns undefined for a type that only a later version knows. */
export function definitionOf(type: EventType): Definition | undefined {
  return (CATALOGUE as Partial<Record<EventType, Definition>>)[type];
}

type EventContent<Type extends EventType> = Type extends EventType
  ? { type: Type } & ContentOf<(typeof CATALOGUE)[Type]['forms'][number]>
  : never;

export type NewEvent<Type extends EventType = EventType> = { actor: Actor } & EventContent<Type>;

export type EventWithout<
  Column extends PropertyKey,
  Type extends EventType = EventType,
> = Type extends EventType ? DistributiveOmit<NewEvent<Type>, Column> : never;

type DistributiveOmit<Union, Column extends PropertyKey> = Union extends unknown
  ? Omit<Union, Column>
  : never;
