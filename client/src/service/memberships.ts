import type {
  MemberAddedEvent,
  Membership,
  MemberRemovedEvent,
  MemberResumedEvent,
  MemberRoleChangedEvent,
  MemberSuspendedEvent,
  Role,
} from '../api.gen.ts';
import type { BoundedCalls, ReadPurpose } from './bounded-calls.ts';
import type { Changes } from './changes.ts';
import { Slots } from './slots.ts';
import { RecentlyUsed } from './recently-used.ts';
import { SharedReads } from './shared-reads.ts';

/** Accounts rejects ids in another format. */
const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
/** A user chooses the ids of organizations, so reads about one user leave slots for the others. */
const AT_ONCE_FOR_USER = 4;
const WAITING_FOR_USER = 256;
/** A response without a membership contains no revision. */
const UNKNOWN_REVISION = -1;
/** Between the time from which an organization requires a second factor and its event, no event reports suspended members. */
const REREAD_BEFORE_MS = 5_000;
const NEVER = Number.POSITIVE_INFINITY;

interface MemberState {
  /** Accounts leaves out suspended members, so the role of one is unknown unless an event contained it. */
  role: Role | undefined;
  isSuspended: boolean;
  orgRevision: number;
}
interface CachedRole extends MemberState {
  readAt: number;
  /** From then on, until the event of the organization, each request causes a read. */
  rereadFrom: number;
}
type MemberEvent =
  | MemberAddedEvent
  | MemberRemovedEvent
  | MemberRoleChangedEvent
  | MemberSuspendedEvent
  | MemberResumedEvent;

/**
 * Caches roles by pair of user and organization, and updates them by the events of the feed.
 *
 * A user may add any other user to an own organization, so an event updates its own pair only and never causes a read.
 */
export class Memberships {
  private readonly pairs: RecentlyUsed<CachedRole>;
  private readonly reads: SharedReads<CachedRole>;
  /** The latest event of each pair that is being read. */
  private readonly eventsDuringRead = new Map<string, MemberState | undefined>();
  private readonly slotsOfUsers = new Map<string, Slots>();
  private readonly calls: BoundedCalls;
  private readonly changes: Changes;

  constructor(calls: BoundedCalls, changes: Changes, limit: number) {
    this.calls = calls;
    this.changes = changes;
    this.pairs = new RecentlyUsed(limit);
    this.reads = new SharedReads(changes);
  }

  /** @throws Unavailable */
  async roleIn(orgId: string, userId: string): Promise<Role | undefined> {
    if (!ID.test(orgId) || !ID.test(userId)) return undefined;
    const kept = this.findCurrent(userId, orgId);
    if (kept && Date.now() < kept.rereadFrom) return roleOf(kept);
    const pair = pairOf(userId, orgId);
    const find = (): Promise<Membership | undefined> => this.findInSlot(userId, orgId);
    const subjects = [userId, orgId, pair];
    return roleOf(
      await this.reads.read(pair, subjects, (readAt) => this.readPair(userId, orgId, readAt, find)),
    );
  }

  /** Returns whether `roleIn` would decide on a state with this revision: a cached one, or one that it reads from now on. */
  isSince(orgId: string, userId: string, revision: number): boolean {
    if (!ID.test(orgId) || !ID.test(userId)) return true;
    const kept = this.findCurrent(userId, orgId);
    return kept ? kept.orgRevision >= revision : !this.reads.isRunning(pairOf(userId, orgId));
  }

  /**
   * Reads a state that is not older than `time`. Callers that need the same pair share the read.
   *
   * @param begin Returns undefined if this caller may not cause a read now. Then the last answer decides.
   * @throws Unavailable
   */
  async roleSince(
    orgId: string,
    userId: string,
    time: number,
    begin: () => (() => void) | undefined,
  ): Promise<Role | undefined> {
    const pair = pairOf(userId, orgId);
    const shared = this.reads.findSince(pair, time);
    if (shared) return roleOf(await shared);
    const end = begin();
    if (!end) return this.roleIn(orgId, userId);
    const find = (): Promise<Membership | undefined> => this.find(userId, orgId, { awaitsRevision: true });
    const read = (readAt: number): Promise<CachedRole> => this.readPair(userId, orgId, readAt, find);
    try {
      return roleOf(await this.reads.readNext(pair, [userId, orgId, pair], read));
    } finally {
      end();
    }
  }

  apply(event: MemberEvent): void {
    const { userId, orgId, orgRevision } = event;
    const pair = pairOf(userId, orgId);
    const kept = this.pairs.get(pair);
    if (kept && kept.orgRevision >= orgRevision) return;
    const isReading = this.eventsDuringRead.has(pair);
    // Only a response contains the role of this member, and a running read may be older than the event.
    if (event.type === 'member.resumed' && (isReading || kept?.role === undefined)) {
      this.pairs.delete(pair);
      if (isReading) this.changes.note(pair);
      return;
    }
    const known = { ...stateAfter(event, kept?.role), orgRevision };
    if (kept) this.pairs.set(pair, { ...kept, ...known });
    if (isReading) this.eventsDuringRead.set(pair, known);
  }

  /** After a gap, such as a restore of Accounts, an organization may have a lower revision than before. */
  forgetAll(): void {
    this.pairs.clear();
    for (const pair of this.eventsDuringRead.keys()) this.eventsDuringRead.set(pair, undefined);
  }

  private findCurrent(userId: string, orgId: string): CachedRole | undefined {
    const pair = pairOf(userId, orgId);
    const kept = this.pairs.get(pair);
    return kept && !this.changes.isVoid(kept.readAt, userId, orgId, pair) ? kept : undefined;
  }

  private async readPair(
    userId: string,
    orgId: string,
    readAt: number,
    find: () => Promise<Membership | undefined>,
  ): Promise<CachedRole> {
    const pair = pairOf(userId, orgId);
    const { rereadFrom: before = NEVER } = this.findCurrent(userId, orgId) ?? {};
    this.eventsDuringRead.set(pair, undefined);
    try {
      const found = await find();
      const answered = {
        role: found?.role,
        isSuspended: false,
        orgRevision: found?.orgRevision ?? UNKNOWN_REVISION,
      };
      // A response without a revision can only be older than an event that arrived during the read.
      const known = this.eventsDuringRead.get(pair) ?? (found && this.pairs.get(pair));
      const { role, isSuspended, orgRevision } =
        known && known.orgRevision > answered.orgRevision ? known : answered;
      const from = found?.secondFactorRequiredFrom;
      const rereadFrom = from === undefined ? before : Date.parse(from) - REREAD_BEFORE_MS;
      const read = { role, isSuspended, orgRevision, readAt, rereadFrom };
      // Without an await after the comparison, so that the next event finds it.
      if (!this.changes.isVoid(readAt)) this.pairs.set(pair, read);
      return read;
    } finally {
      this.eventsDuringRead.delete(pair);
    }
  }

  private async findInSlot(userId: string, orgId: string): Promise<Membership | undefined> {
    const slots = this.slotsOfUsers.get(userId) ?? new Slots(AT_ONCE_FOR_USER, WAITING_FOR_USER);
    this.slotsOfUsers.set(userId, slots);
    try {
      return await slots.run(() => this.find(userId, orgId));
    } finally {
      if (slots.isIdle) this.slotsOfUsers.delete(userId);
    }
  }

  private async find(userId: string, orgId: string, purpose?: ReadPurpose): Promise<Membership | undefined> {
    const { memberships } = await this.calls.read(
      (client, options) => client.listMemberships({ userId, orgId }, options),
      purpose,
    );
    return memberships[0];
  }
}

const pairOf = (userId: string, orgId: string): string => `${userId} ${orgId}`;

const roleOf = ({ role, isSuspended }: MemberState): Role | undefined => (isSuspended ? undefined : role);

function stateAfter(event: MemberEvent, kept: Role | undefined): Omit<MemberState, 'orgRevision'> {
  const { type, data } = event;
  if (type === 'member.suspended' || type === 'member.resumed')
    return { role: kept, isSuspended: type === 'member.suspended' };
  if (type === 'member.removed') return { role: undefined, isSuspended: false };
  const role = type === 'member.added' ? event.data.role : event.data.to;
  return { role, isSuspended: 'suspended' in data };
}
