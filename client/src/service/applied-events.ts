import type { SessionEndedEvent } from '../api.gen.ts';
import type { DataOf } from '../results.ts';
import type { Changes } from './changes.ts';
import { KEYS_OF_SERVICE, linkOfService } from './claims.ts';
import type { Memberships } from './memberships.ts';
import type { Revisions } from './revisions.ts';

export type FeedEvent = DataOf<'listEvents'>['events'][number];

const OF_ACCOUNTS = new Set<FeedEvent['type']>([
  'account.email_changed',
  'account.email_verified',
  'account.password_changed',
  'account.disabled',
  'account.enabled',
  'account.deleted',
]);
const OF_ORGS = new Set<FeedEvent['type']>([
  'org.deleted',
  'org.restored',
  'org.purged',
  'org.second_factor_required',
  'org.second_factor_due',
]);
const OF_THIS_SERVICE = new Set<FeedEvent['type']>([
  'service.disabled',
  'service.removed',
  'service.sessions_ended',
]);

export interface GuardState {
  changes: Changes;
  memberships: Memberships;
  revisions: Revisions;
}

/** Applies an event to the cached state. An event of a type that this version does not know raises only the revision. */
export function applyEvent(event: FeedEvent, { changes, memberships, revisions }: GuardState): void {
  applyToState(event, changes, memberships);
  const { orgId, orgRevision } = event;
  // Last, because requests that wait for the revision then decide on the cached state.
  if (orgId !== null && orgRevision !== null) revisions.note(orgId, orgRevision);
}

function applyToState(event: FeedEvent, changes: Changes, memberships: Memberships): void {
  const { type } = event;
  if (type === 'session.ended') noteEnd(event, changes);
  else if (
    type === 'member.added' ||
    type === 'member.role_changed' ||
    type === 'member.removed' ||
    type === 'member.suspended' ||
    type === 'member.resumed'
  )
    memberships.apply(event);
  else if (OF_ACCOUNTS.has(type)) changes.note(event.userId!);
  else if (OF_ORGS.has(type)) changes.note(event.orgId!);
  else if (OF_THIS_SERVICE.has(type)) changes.noteAll();
  else if (type === 'service.allowed' || type === 'service.enabled') changes.note(KEYS_OF_SERVICE);
  else if (type === 'key.revoked') changes.note(event.data.keyId, { ended: true });
  else if (type === 'service.tokens_ended' || type === 'service.call_revoked')
    changes.note(linkOfService(event.data.service));
}

/** An instance of an older version sends no epoch. Then the guard introspects each session of the user again. */
function noteEnd({ sessionId, userId, data }: SessionEndedEvent, changes: Changes): void {
  if (sessionId !== null) changes.note(sessionId, { ended: true });
  else if ('all' in data && data.epoch !== undefined)
    changes.note(userId, { epoch: data.epoch, except: data.except });
  else changes.note(userId);
}
