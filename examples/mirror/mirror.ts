import { pages } from 'accounts-client';
import { type FeedEvent, type Role, type ServiceClient, unwrap } from 'accounts-client/service';

interface User {
  id: string;
  email: string;
  name: string | null;
  disabled: boolean;
}
interface Member {
  /** unknown of a member who was suspended when the organization was read */
  role: Role | undefined;
  isSuspended: boolean;
}
interface Org {
  name: string;
  /** Events of a higher revision change what was read. */
  readRevision: number;
  members: Map<string, Member>;
}

type MemberEvent = Extract<FeedEvent, { type: `member.${string}` }>;

const MAKE_ORGS_STALE = new Set<string>([
  'org.created',
  'org.restored',
  'org.second_factor_required',
  'org.second_factor_due',
]);
const MAKE_USERS_STALE = new Set<string>([
  'account.disabled',
  'account.deleted',
  'account.email_changed',
  'account.profile_changed',
]);

const MANY = 1000;
const IDS_AT_ONCE = 100;

/** Every user with a membership, every organization and every membership, as Accounts has them. */
export class Mirror {
  readonly users = new Map<string, User>();
  readonly orgs = new Map<string, Org>();
  /** to be looked up at the end of the page, many at once */
  private readonly staleUsers = new Set<string>();
  private readonly staleNames = new Set<string>();
  private readonly client: ServiceClient;

  constructor(client: ServiceClient) {
    this.client = client;
  }

  /** Follows Accounts until the signal. A page that failed is repeated, because applying an event twice is harmless. */
  async follow(signal: AbortSignal): Promise<void> {
    for (let cursor: string | undefined; !signal.aborted;) {
      try {
        const from = cursor === undefined ? {} : { after: cursor, wait: 10, limit: MANY };
        const page = await this.client.listEvents(from, { signal, timeoutMs: 20_000 });
        if (!page.ok && page.problem.code === 'cursor_expired') cursor = undefined;
        else {
          const { events, next } = unwrap(page);
          if (cursor === undefined) await this.readAll();
          for (const event of events) await this.apply(event);
          await this.lookUp();
          cursor = next;
        }
      } catch (error) {
        if (signal.aborted) return;
        console.warn('the mirror is behind:', error);
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
    }
  }

  /** Take the cursor before. */
  private async readAll(): Promise<void> {
    this.users.clear();
    this.orgs.clear();
    for await (const page of pages(this.client.listDirectoryOrgs, { limit: MANY }))
      for (const { id, name } of unwrap(page).orgs) await this.readMembers(id, name);
  }

  /** A later page may be newer than the first, so only what the first has is skipped in the feed. */
  private async readMembers(orgId: string, name: string): Promise<void> {
    const org: Org = { name, readRevision: 0, members: new Map() };
    for await (const page of pages(this.client.listMemberships, { orgId, limit: MANY })) {
      const { memberships } = unwrap(page);
      if (org.members.size === 0) org.readRevision = memberships[0]?.orgRevision ?? 0;
      for (const { userId, role } of memberships) {
        org.members.set(userId, { role, isSuspended: false });
        if (!this.users.has(userId)) this.staleUsers.add(userId);
      }
    }
    this.orgs.set(orgId, org);
  }

  private async lookUp(): Promise<void> {
    for (const ids of hundredsOf(this.staleUsers)) {
      const { users } = unwrap(await this.client.listDirectoryUsers({ id: ids }));
      for (const id of ids) this.users.delete(id);
      for (const { id, email, name, disabled } of users) this.users.set(id, { id, email, name, disabled });
    }
    for (const ids of hundredsOf(this.staleNames)) {
      const { orgs } = unwrap(await this.client.listDirectoryOrgs({ id: ids }));
      for (const { id, name } of orgs) {
        const org = this.orgs.get(id);
        if (org) org.name = name;
      }
    }
    this.staleUsers.clear();
    this.staleNames.clear();
  }

  private async apply(event: FeedEvent): Promise<void> {
    const { type, orgId, userId } = event;
    if (isOfMember(event)) await this.applyToMember(event);
    else if (type === 'account.enabled') await this.readMembershipsOf(userId);
    else if (type === 'org.deleted' || type === 'org.purged') this.orgs.delete(orgId);
    else if (type === 'org.renamed') this.staleNames.add(orgId);
    else if (MAKE_ORGS_STALE.has(type)) {
      this.staleNames.add(orgId!);
      await this.readMembers(orgId!, this.orgs.get(orgId!)?.name ?? '');
    } else if (MAKE_USERS_STALE.has(type) && this.users.has(userId!)) this.staleUsers.add(userId!);
  }

  private async applyToMember(event: MemberEvent): Promise<void> {
    const { type, userId, orgId, orgRevision } = event;
    const org = this.orgs.get(orgId);
    if (!org || orgRevision <= org.readRevision) return;
    const member = org.members.get(userId) ?? { role: undefined, isSuspended: false };
    if (type === 'member.removed') {
      org.members.delete(userId);
      return;
    }
    if (type === 'member.added' || type === 'member.role_changed') {
      member.role = type === 'member.added' ? event.data.role : event.data.to;
      member.isSuspended = event.data.suspended === true;
    } else member.isSuspended = type === 'member.suspended';
    org.members.set(userId, member);
    if (member.role === undefined && !member.isSuspended) await this.readMembershipsOf(userId);
    if (!this.users.has(userId)) this.staleUsers.add(userId);
  }

  private async readMembershipsOf(userId: string): Promise<void> {
    const read = new Map<string, Role>();
    for await (const page of pages(this.client.listMemberships, { userId, limit: MANY }))
      for (const { orgId, role } of unwrap(page).memberships) read.set(orgId, role);
    for (const [orgId, { members }] of this.orgs) {
      const role = read.get(orgId);
      if (role === undefined) members.delete(userId);
      else members.set(userId, { role, isSuspended: false });
    }
    this.staleUsers.add(userId);
  }
}

function* hundredsOf(ids: Iterable<string>): Generator<string[]> {
  const all = [...ids];
  for (let from = 0; from < all.length; from += IDS_AT_ONCE) yield all.slice(from, from + IDS_AT_ONCE);
}

function isOfMember(event: FeedEvent): event is MemberEvent {
  return event.type.startsWith('member.');
}
