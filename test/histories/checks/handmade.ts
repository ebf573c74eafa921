import type { Effect, History, LoggedEvent, Operation, OrgOperation, Timed, Timing } from '../history.js';

export const ORG = 'org';
export const ADA = 'ada';
export const GRACE = 'grace';
export const INVITATION = 'invitation';

/** An answered operation, or one with another result, from one time to another. */
export function timing(startedAt: number, endedAt: number, result: Timing['result'] = 'ok'): Timing {
  return { startedAt, endedAt, result, status: STATUSES[result], instance: 0 };
}

const STATUSES = { ok: 200, failed: 409, unknown: undefined };

/** An event by Ada. */
export function event(
  revision: number,
  type: string,
  data: Record<string, string> = {},
  userId: string | null = null,
): LoggedEvent {
  return { id: `${revision} ${type}`, type, revision, actorId: ADA, userId, data };
}

/** A change by Ada. */
export function change(effect: Effect, times: Timing, revision?: number): Timed<OrgOperation> {
  const made = { kind: 'change', orgId: ORG, actorId: ADA, effect, ...times } as const;
  return revision === undefined ? made : { ...made, revision };
}

/** Ada creates an organization, adds Grace, renames it, invites, revokes the invitation and removes Grace. */
export const CHANGES: readonly Timed<OrgOperation>[] = [
  change({ type: 'org.created', name: 'One' }, timing(0, 10), 1),
  change({ type: 'member.added', userId: GRACE, role: 'member' }, timing(20, 30), 2),
  change({ type: 'org.renamed', name: 'Two' }, timing(40, 50), 3),
  change({ type: 'invitation.created', role: 'member', invitationId: INVITATION }, timing(60, 70), 4),
  change({ type: 'invitation.revoked', invitationId: INVITATION }, timing(80, 90), 5),
  change({ type: 'member.removed', userId: GRACE }, timing(100, 110), 6),
];

export const LOG: readonly LoggedEvent[] = [
  event(1, 'org.created'),
  event(1, 'member.added', { role: 'owner' }, ADA),
  event(2, 'member.added', { role: 'member' }, GRACE),
  event(3, 'org.renamed'),
  event(4, 'invitation.created', { invitationId: INVITATION, role: 'member' }),
  event(5, 'invitation.revoked', { invitationId: INVITATION, role: 'member' }),
  event(6, 'member.removed', { role: 'member' }, GRACE),
];

/** The changes above, and what else was done and logged. */
export function historyWith(operations: readonly Operation[], events: readonly LoggedEvent[] = []): History {
  return { operations: [...CHANGES, ...operations], logs: new Map([[ORG, [...LOG, ...events]]]) };
}
