import type { MemberAddedEvent, MemberRemovedEvent, MemberRoleChangedEvent, Role } from '../api.gen.ts';
import type { Calls } from './calls.ts';
import type { Changes } from './changes.ts';
import { RecentlyUsed } from './recently-used.ts';
import { SharedReads } from './shared-reads.ts';

const PAGE = 1_000;

interface Membership {
  role: Role;
  orgRevision: number;
}
interface OfUser {
  readAt: number;
  byOrg: Map<string, Membership>;
}
type MemberEvent = MemberAddedEvent | MemberRemovedEvent | MemberRoleChangedEvent;

/** The roles of those who were asked about, kept true by the feed. */
export class Memberships {
  private readonly users: RecentlyUsed<OfUser>;
  private readonly reads: SharedReads<OfUser>;
  private readonly calls: Calls;
  private readonly changes: Changes;

  constructor(calls: Calls, changes: Changes, limit: number) {
    this.calls = calls;
    this.changes = changes;
    this.users = new RecentlyUsed(limit, ({ byOrg }) => byOrg.size + 1);
    this.reads = new SharedReads(changes);
  }

  /** @throws Unavailable */
  async roleIn(orgId: string, userId: string): Promise<Role | undefined> {
    const { byOrg } = await this.of(userId, orgId);
    return byOrg.get(orgId)?.role;
  }

  apply(event: MemberEvent): void {
    const { userId, orgId, orgRevision } = event;
    if (this.reads.isRunning(userId)) this.changes.note(subjectOf(userId));
    const kept = this.users.get(userId);
    const known = kept?.byOrg.get(orgId);
    if (!kept || (known && known.orgRevision >= orgRevision)) return;
    // Somebody who is in no list was added, or removed again before the list was read: that can only be asked.
    if (!known || event.type === 'member.added') return this.changes.note(subjectOf(userId));
    if (event.type === 'member.role_changed') {
      kept.byOrg.set(orgId, { role: event.data.to, orgRevision });
      return;
    }
    this.users.delete(userId);
    kept.byOrg.delete(orgId);
    this.users.set(userId, kept);
  }

  private async of(userId: string, orgId: string): Promise<OfUser> {
    const subjects = [userId, subjectOf(userId), orgId];
    const kept = this.users.get(userId);
    if (kept && !this.changes.isVoid(kept.readAt, ...subjects)) return kept;
    const read = (await this.reads.read(userId, subjects, (readAt) => this.list(userId, readAt)))!;
    this.users.set(userId, read);
    // The read may be one that others began, who did not ask about this organization.
    return this.changes.isVoid(read.readAt, orgId) ? this.of(userId, orgId) : read;
  }

  private async list(userId: string, readAt: number): Promise<OfUser> {
    const byOrg = new Map<string, Membership>();
    const read = (cursor: string | undefined) => {
      const input = { userId, limit: PAGE, cursor };
      return this.calls.read((client, options) => client.listMemberships(input, options));
    };
    let page = await read(undefined);
    for (;;) {
      for (const { orgId, role, orgRevision } of page.memberships) byOrg.set(orgId, { role, orgRevision });
      if (page.nextCursor === undefined) return { readAt, byOrg };
      page = await read(page.nextCursor);
    }
  }
}

/** A session of the user is not void where only a membership has changed. */
function subjectOf(userId: string): string {
  return `memberships of ${userId}`;
}
