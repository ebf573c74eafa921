import { randomBytes, randomUUID } from 'node:crypto';
import type { Membership } from '../api.gen.ts';
import { apiKeyOf } from '../service/api-key-form.ts';
import { type Given, type GivenKey, type GivenSession, usersOf } from './script.ts';
import type { Key, Member, Org, Session, User } from './subjects.ts';

const FIRST_REVISION = 10;
const KEY_SECONDS = 3_600;

/** Users, sessions, organizations and API keys, and the events of their changes. */
export class World {
  events: { type: string }[] = [];
  readonly users = new Map<string, User>();
  readonly sessions = new Map<string, Session>();
  readonly orgs = new Map<string, Org>();
  readonly keys = new Map<string, Key>();
  /** Whether the service has the scope `keys`. */
  hasKeys = true;
  viaEpoch = 0;
  /** By name of a service, or of two services: tokens with a lower `via_epoch` have ended. */
  readonly ends = new Map<string, number>();
  isDisabled = false;
  private readonly given: Given;

  constructor(given: Given) {
    this.given = given;
    this.restore();
  }

  /** Returns to the state before the first step, as a restored backup does. Ids stay. */
  restore(): void {
    const { given, users, orgs } = this;
    this.events = [];
    for (const name of usersOf(given)) {
      const id = users.get(name)?.id ?? randomUUID();
      users.set(name, { id, epoch: 0, revision: 1, state: 'enabled' });
      this.start(name, { user: name, ...given.sessions?.[name] });
    }
    for (const [name, session] of Object.entries(given.sessions ?? {})) this.start(name, session);
    this.hasKeys = true;
    for (const [name, key] of Object.entries(given.keys ?? {})) this.addKey(name, key);
    for (const [name, roles] of Object.entries(given.members ?? {})) {
      const members = Object.entries(roles).map(
        ([user, role]) => [user, { role, isSuspended: false }] as const,
      );
      const org = { revision: FIRST_REVISION, isDeleted: false, requiredFrom: undefined };
      orgs.set(name, { ...org, id: orgs.get(name)?.id ?? randomUUID(), members: new Map(members) });
    }
  }

  start(name: string, session: GivenSession): void {
    const { id = randomUUID(), loginId = randomUUID() } = this.sessions.get(name) ?? {};
    const authTime = Math.floor(Date.now() / 1000) - (session.age ?? 0);
    const { epoch } = this.users.get(session.user)!;
    this.sessions.set(name, { ...session, id, loginId, authTime, epoch });
  }

  addKey(name: string, key: GivenKey): void {
    const { id = randomUUID(), text } = this.keys.get(name) ?? {};
    const made = text ?? apiKeyOf(randomBytes(22).toString('hex').slice(1));
    const exp = Math.floor(Date.now() / 1000) + (key.life ?? KEY_SECONDS);
    this.keys.set(name, { ...key, id, text: made, exp, isRevoked: false });
  }

  /** Replaces `$name` by the id of a user, an organization or an API key, and `$name.session` by that of a session. */
  expand(text: string): string {
    return text.replaceAll(/\$([a-z][a-z0-9-]*)(\.session)?/g, (whole, name: string, ofSession?: string) => {
      const found = ofSession
        ? this.sessions.get(name)
        : [this.users, this.orgs, this.keys].map((all) => all.get(name)).find(Boolean);
      return found?.id ?? whole;
    });
  }

  isLive(name: string): boolean {
    const { ended, login, branch, user } = this.sessions.get(name)!;
    const above = [login, branch].filter((one) => one !== undefined);
    return !ended && this.users.get(user)!.state === 'enabled' && above.every((one) => this.isLive(one));
  }

  isLiveKey({ user, org, exp, isRevoked }: Key): boolean {
    const isEnabled = this.users.get(user)!.state === 'enabled';
    const isMember = org === undefined || this.memberIn(this.orgs.get(org)!, user) !== undefined;
    return this.hasKeys && !isRevoked && exp * 1000 > Date.now() && isEnabled && isMember;
  }

  /** The membership, unless the user is disabled or suspended, or the organization is deleted. */
  memberIn(org: Org, user: string): Member | undefined {
    const member = org.members.get(user);
    const isDue = org.requiredFrom !== undefined && org.requiredFrom <= Date.now();
    if (member === undefined || org.isDeleted || member.isSuspended || isDue) return undefined;
    return this.users.get(user)!.state === 'enabled' ? member : undefined;
  }

  /** As Accounts lists them, of an organization, of a user, or of both. */
  memberships(orgId: string | null, userId: string | null): Membership[] {
    const orgs = [...this.orgs.values()].filter(({ id }) => orgId === null || id === orgId);
    return orgs.flatMap((org) =>
      [...org.members.keys()].flatMap((name) => {
        const [{ id }, member] = [this.users.get(name)!, this.memberIn(org, name)];
        if (member === undefined || (userId !== null && id !== userId)) return [];
        const { requiredFrom, id: ofOrg, revision: orgRevision } = org;
        const found = { orgId: ofOrg, userId: id, role: member.role, orgRevision };
        if (requiredFrom === undefined) return [found];
        return [{ ...found, secondFactorRequiredFrom: new Date(requiredFrom).toISOString() }];
      }),
    );
  }
}
