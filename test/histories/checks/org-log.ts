import type { InvitationStatus, ListedInvitations, ListedMember, LoggedEvent, Span } from '../history.js';

/** How many of the ascending numbers are at most that value. */
export function countAtMost(ascending: readonly number[], value: number): number {
  let [low, high] = [0, ascending.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ascending[middle]! <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

class Versions<T> {
  private readonly revisions: number[] = [];
  private readonly values: T[] = [];

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
  readonly events: readonly LoggedEvent[];
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
    this.invitationIds = [...this.statuses.keys()].toSorted().toReversed();
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

  invitationsAt(revision: number, limit: number): ListedInvitations {
    const listed: ListedInvitations = [];
    for (const id of this.invitationIds) {
      const status = this.statuses.get(id)?.at(revision);
      if (status !== undefined) listed.push({ id, status });
      if (listed.length === limit) break;
    }
    return listed;
  }

  namingAt(revision: number): LoggedEvent | undefined {
    return this.names.at(revision);
  }

  between(after: number, before: number): readonly number[] {
    return this.revisions.slice(countAtMost(this.revisions, after), countAtMost(this.revisions, before - 1));
  }

  private apply(event: LoggedEvent): void {
    const { type, revision, userId, data } = event;
    if (type === 'org.created' || type === 'org.renamed') this.names.set(revision, event);
    const invitationId = data['invitationId'];
    if (typeof invitationId === 'string' && STATUSES[type])
      versionsOf(this.statuses, invitationId).set(revision, STATUSES[type]);
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

/** An operation that has shown a revision of an organization to a client. */
export interface Shown extends Span {
  revision: number;
  /** whether the operation made the revision */
  isChange: boolean;
}

/** The order that clients saw: what has ended before something else begins comes before it. */
export class RealTime {
  private readonly ends: number[];
  /** the greatest revision that was shown until each of the ends */
  private readonly shown: number[];
  private readonly begins: number[];
  /** the smallest revision that was made from each of the begins on */
  private readonly made: number[];

  constructor(
    operations: readonly Shown[],
    private readonly log: OrgLog,
  ) {
    const byEnd = operations.toSorted((one, other) => one.endedAt - other.endedAt);
    this.ends = byEnd.map(({ endedAt }) => endedAt);
    let most = 0;
    this.shown = byEnd.map(({ revision }) => (most = Math.max(most, revision)));

    const changes = operations.filter(({ isChange }) => isChange);
    const byBegin = changes.toSorted((one, other) => one.startedAt - other.startedAt);
    this.begins = byBegin.map(({ startedAt }) => startedAt);
    let least = Infinity;
    const backwards = byBegin.toReversed().map(({ revision }) => (least = Math.min(least, revision)));
    this.made = backwards.toReversed();
  }

  /** The greatest revision that a client was shown before that time; 0 before the first one. */
  shownBefore(time: number): number {
    return this.shown[countAtMost(this.ends, time) - 1] ?? 0;
  }

  /**
   * The revisions that an operation can have seen: from the latest that was shown before it began until the first that a
   * later change made. The first one stands for those before the next event.
   */
  revisionsFor({ startedAt, endedAt }: Span): number[] {
    const least = this.shownBefore(startedAt);
    const end = this.made[countAtMost(this.begins, endedAt)] ?? Infinity;
    return [least, ...this.log.between(least, end)];
  }
}
