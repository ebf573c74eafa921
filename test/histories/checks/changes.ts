import { unmatched } from '../../faults/support/matching.js';
import type { Effect, LoggedEvent, OrgChange, Timed, Violation } from '../history.js';
import type { OrgLog } from './org-log.js';
import { broken } from './org-reads.js';

type Change = Timed<OrgChange>;

export interface Explained {
  violations: Violation[];
  /** the acknowledged changes that are in the audit log, with their revisions */
  made: Map<Change, number>;
  /** those that changed nothing, such as a role that the member had already */
  idle: Map<Change, number>;
}

/** Compares the responses to changes with the audit log: no change is lost, and none comes from nowhere. */
export function explain(changes: readonly Change[], log: OrgLog): Explained {
  const violations: Violation[] = [];
  const made = new Map<Change, number>();
  const idle = new Map<Change, number>();
  const taken = new Set<number>();
  for (const change of changes.filter(({ result }) => result === 'ok')) {
    const revision = change.revision ?? log.revisions.find((one) => isIn(change, log.eventsAt(one)));
    const isIdle = revision !== undefined && isInForce(change.effect, log, revision);
    const isMade = revision !== undefined && isIn(change, log.eventsAt(revision));
    if (isMade && !(isIdle && taken.has(revision))) {
      made.set(change, revision);
      taken.add(revision);
    } else if (isIdle) idle.set(change, revision);
    else
      violations.push(
        broken('lost_change', `an acknowledged ${change.effect.type} is not in the audit log`, [change]),
      );
  }

  const authors = Map.groupBy(made.keys(), (change) => made.get(change)!);
  for (const [revision, several] of authors) {
    if (several.length > 1)
      violations.push(
        broken('revision_twice', `two changes were answered with revision ${revision}`, several),
      );
  }

  const unknown = changes.filter(({ result }) => result === 'unknown');
  const unexplained = unmatched(
    log.revisions.filter((revision) => !authors.has(revision)).map((revision) => ({ revision })),
    ({ revision }) => unknown.filter((change) => isIn(change, log.eventsAt(revision))),
  );
  for (const { revision } of unexplained) {
    const types = log.eventsAt(revision).map(({ type }) => type);
    const text = `no client made revision ${revision} (${types.join(', ')}), or it was answered as failed`;
    violations.push(broken('change_from_nowhere', text, []));
  }
  return { violations, made, idle };
}

function isIn({ actorId, effect }: Change, events: readonly LoggedEvent[]): boolean {
  return events.some((event) => event.actorId === actorId && isEventOf(effect, event));
}

function isEventOf(effect: Effect, { type, userId, data }: LoggedEvent): boolean {
  const invitationId = 'invitationId' in effect ? effect.invitationId : undefined;
  return (
    type === effect.type &&
    (!('userId' in effect) || userId === effect.userId) &&
    (!('role' in effect) || (data['to'] ?? data['role']) === effect.role) &&
    (invitationId === undefined || data['invitationId'] === invitationId)
  );
}

/** Whether the organization is at that revision as the change would leave it. */
function isInForce(effect: Effect, log: OrgLog, revision: number): boolean {
  return effect.type === 'member.role_changed' && log.roleAt(effect.userId, revision) === effect.role;
}
