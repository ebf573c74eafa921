import type { InvitationStatus, ListedMember, LoggedEvent } from '../history.js';
import { countAtMost } from './sorted.js';

/** The values that something had, each from a revision on. */
class Versions<T> {
  private readonly revisions: number[] = [];
  private readonly values: T[] = [];

  /** To be called in the order of the revisions. */
  set(revision: number, value: T): void {
    this.revisions.push(revision);
    this.values.push(value);
  }

  at(revision: number): T | undefined {
    return this.values[countAtMost(this.revisions, revision) - 1];
  }
}

const STATUSES: Readonly<Record<string, InvitationStatus>> = {
  'invitation.created': 'pending',
  'invitation.resent': 'pending',
  'invitation.revoked': 'revoked',
  'invitation.accepted': 'accepted',
  'invitation.declined': 'declined',
};

/** The audit log of an organization, and the state that it gives at each revision. */
export class OrgLog {
  /** in the order of the revisions */
  readonly events: readonly LoggedEvent[];
  /** of all events, each once, in their order */
  readonly revisions: readonly number[];
  private readonly byRevision: ReadonlyMap<number, readonly LoggedEvent[]>;
  private readonly roles = new Map<string, Versions<string | undefined>>();
  private readonly names = new Versions<LoggedEvent>();
  private readonly statuses = new Map<string, Versions<InvitationStatus>>();
  /** newest first, as lists are */
  private readonly invitationIds: readonly string[];

  constructor(events: readonly LoggedEvent[]) {
    this.events = events.toSorted(
      (one, other) => one.revision - other.revision || (one.id < other.id ? -1 : 1),
    );
    this.byRevision = Map.groupBy(this.events, ({ revision }) => revision);
    this.revisions = [...this.byRevision.keys()];
    for (const event of this.events) this.apply(event);
    this.invitationIds = [...this.statuses.keys()].toSorted((one, other) => (one < other ? 1 : -1));
  }

  eventsAt(revision: number): readonly LoggedEvent[] {
    return this.byRevision.get(revision) ?? [];
  }

  roleAt(userId: string, revision: number): string | undefined {
    return this.roles.get(userId)?.at(revision);
  }

  membersAt(revision: number): ListedMember[] {
    return [...this.roles.keys()].flatMap((userId) => {
      const role = this.roleAt(userId, revision);
      return role === undefined ? [] : [{ userId, role }];
    });
  }

  invitationsAt(revision: number, limit: number): { id: string; status: string }[] {
    const listed: { id: string; status: string }[] = [];
    for (const id of this.invitationIds) {
      const status = this.statuses.get(id)?.at(revision);
      if (status !== undefined) listed.push({ id, status });
      if (listed.length === limit) break;
    }
    return listed;
  }

  /** The last event that gave the organization a name. */
  namingAt(revision: number): LoggedEvent | undefined {
    return this.names.at(revision);
  }

  private apply(event: LoggedEvent): void {
    const { type, revision, userId, data } = event;
    if (type === 'org.created' || type === 'org.renamed') this.names.set(revision, event);
    const invitationId = data['invitationId'];
    if (typeof invitationId === 'string' && STATUSES[type]) {
      versionsOf(this.statuses, invitationId).set(revision, STATUSES[type]);
    }
    if (!type.startsWith('member.') || userId === null) return;
    const role = type === 'member.removed' ? undefined : String(data['to'] ?? data['role']);
    versionsOf(this.roles, userId).set(revision, role);
  }
}

function versionsOf<T>(all: Map<string, Versions<T>>, key: string): Versions<T> {
  const versions = all.get(key) ?? new Versions<T>();
  all.set(key, versions);
  return versions;
}
