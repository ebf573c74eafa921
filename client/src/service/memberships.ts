import type { MemberAddedEvent, MemberRemovedEvent, MemberRoleChangedEvent, Role } from '../api.gen.ts';
import type { Calls } from './calls.ts';
import type { Changes } from './changes.ts';
import { Places } from './places.ts';
import { RecentlyUsed } from './recently-used.ts';
import { SharedReads } from './shared-reads.ts';

/** Accounts has no ids in another form, and rejects a question with one. */
const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
/** A user chooses the ids of organizations, so the questions about one user leave places to the others. */
const AT_ONCE_FOR_USER = 4;
const WAITING_FOR_USER = 256;
/** An answer without a membership names no revision. */
const NO_REVISION = -1;

interface Known {
  role: Role | undefined;
  orgRevision: number;
}
interface Kept extends Known {
  readAt: number;
}
type MemberEvent = MemberAddedEvent | MemberRemovedEvent | MemberRoleChangedEvent;

/**
 * The roles of the pairs of user and organization that were asked about, kept true by the feed.
 *
 * Anyone may add any user to an organization of theirs, so an event changes its own pair and never causes a question.
 */
export class Memberships {
  private readonly pairs: RecentlyUsed<Kept>;
  private readonly reads: SharedReads<Kept>;
  /** the latest event of each pair that is being read */
  private readonly told = new Map<string, Known | undefined>();
  private readonly placesOfUsers = new Map<string, Places>();
  private readonly calls: Calls;
  private readonly changes: Changes;

  constructor(calls: Calls, changes: Changes, limit: number) {
    this.calls = calls;
    this.changes = changes;
    this.pairs = new RecentlyUsed(limit);
    this.reads = new SharedReads(changes);
  }

  /** @throws Unavailable */
  async roleIn(orgId: string, userId: string): Promise<Role | undefined> {
    if (!ID.test(orgId) || !ID.test(userId)) return undefined;
    const subjects = [userId, orgId];
    const pair = pairOf(userId, orgId);
    const kept = this.pairs.get(pair);
    if (kept && !this.changes.isVoid(kept.readAt, ...subjects)) return kept.role;
    const read = await this.reads.read(pair, subjects, (readAt) => this.ask(userId, orgId, readAt));
    return read.role;
  }

  apply(event: MemberEvent): void {
    const { userId, orgId, orgRevision } = event;
    const pair = pairOf(userId, orgId);
    const kept = this.pairs.get(pair);
    if (kept && kept.orgRevision >= orgRevision) return;
    const known = { role: roleAfter(event), orgRevision };
    if (kept) this.pairs.set(pair, { ...kept, ...known });
    if (this.told.has(pair)) this.told.set(pair, known);
  }

  /** After a gap, such as a restore of Accounts, an organization may have a lower revision than before. */
  forgetAll(): void {
    this.pairs.clear();
    for (const pair of this.told.keys()) this.told.set(pair, undefined);
  }

  private async ask(userId: string, orgId: string, readAt: number): Promise<Kept> {
    const pair = pairOf(userId, orgId);
    this.told.set(pair, undefined);
    try {
      const found = await this.find(userId, orgId);
      const answered = found ?? { role: undefined, orgRevision: NO_REVISION };
      // Without a revision, only an event that arrived meanwhile is known to be about another state.
      const known = this.told.get(pair) ?? (found && this.pairs.get(pair));
      const { role, orgRevision } = known && known.orgRevision > answered.orgRevision ? known : answered;
      const read = { role, orgRevision, readAt };
      // In the same turn as the comparison, so that the next event finds it.
      if (!this.changes.isVoid(readAt)) this.pairs.set(pair, read);
      return read;
    } finally {
      this.told.delete(pair);
    }
  }

  private async find(userId: string, orgId: string): Promise<Known | undefined> {
    const places = this.placesOfUsers.get(userId) ?? new Places(AT_ONCE_FOR_USER, WAITING_FOR_USER);
    this.placesOfUsers.set(userId, places);
    try {
      const { memberships } = await places.run(() =>
        this.calls.read((client, options) => client.listMemberships({ userId, orgId }, options)),
      );
      return memberships[0];
    } finally {
      if (places.areFree) this.placesOfUsers.delete(userId);
    }
  }
}

const pairOf = (userId: string, orgId: string): string => `${userId} ${orgId}`;

function roleAfter(event: MemberEvent): Role | undefined {
  if (event.type === 'member.removed') return undefined;
  return event.type === 'member.added' ? event.data.role : event.data.to;
}
