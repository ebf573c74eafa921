import { randomBytes, randomUUID } from 'node:crypto';
import type { Membership } from '../api.gen.ts';
import { apiKeyOf } from '../service/api-key-form.ts';
import { type Change, type Given, type GivenKey, type GivenSession, SERVICE, usersOf } from './script.ts';
import type { About, Key, Member, Org, Session, User } from './subjects.ts';

const FIRST_REVISION = 10;
const KEY_SECONDS = 3_600;

/** Users, sessions and organizations, and the events that Accounts would write for each change of them. */
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

  private start(name: string, session: GivenSession): void {
    const { id = randomUUID(), loginId = randomUUID() } = this.sessions.get(name) ?? {};
    const authTime = Math.floor(Date.now() / 1000) - (session.age ?? 0);
    const { epoch } = this.users.get(session.user)!;
    this.sessions.set(name, { ...session, id, loginId, authTime, epoch });
  }

  private addKey(name: string, key: GivenKey): void {
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
        const from = org.requiredFrom === undefined ? [] : [new Date(org.requiredFrom).toISOString()];
        const { id: ofOrg, revision: orgRevision } = org;
        const found = { orgId: ofOrg, userId: id, role: member.role, orgRevision };
        return [{ ...found, ...(from[0] !== undefined && { secondFactorRequiredFrom: from[0] }) }];
      }),
    );
  }

  apply(step: Change): void {
    const { change: type } = step;
    const org = step.org === undefined ? undefined : this.orgs.get(step.org)!;
    const user = step.user === undefined ? undefined : this.users.get(step.user)!;
    if (type === 'session.started') this.start(step.session!, { user: step.user! });
    else if (type.startsWith('session.')) this.endSessions(step, user);
    else if (type.startsWith('member.')) this.changeMember(step, org!, user!);
    else if (type.startsWith('org.')) this.changeOrg(step, org!);
    else if (type.startsWith('service.')) this.changeService(step);
    else if (type.startsWith('key.')) this.changeKey(step);
    else this.changeUser(type, user!);
  }

  private endSessions({ session, except, withoutEpoch }: Change, user: User | undefined): void {
    if (session !== undefined) {
      const ended = this.sessions.get(session)!;
      ended.ended = true;
      const about = { user: this.users.get(ended.user), sessionId: ended.id };
      this.append('session.ended', about, { reason: 'revoked' });
      return;
    }
    user!.epoch += 1;
    for (const [name, one] of this.sessions) {
      if (this.users.get(one.user) === user && name !== except) one.ended = true;
    }
    const epoch = withoutEpoch ? {} : { epoch: user!.epoch };
    const kept = except === undefined ? {} : { except: this.sessions.get(except)!.id };
    this.append('session.ended', { user }, { reason: 'password_changed', all: true, ...kept, ...epoch });
  }

  private changeMember({ change: type, user: name, role, suspended }: Change, org: Org, user: User): void {
    const member = org.members.get(name!);
    const lacks = suspended ? { suspended: true } : {};
    const to = role ?? member?.role ?? 'member';
    const data = {
      'member.added': { role: to, via: 'added', ...lacks },
      'member.role_changed': { from: member?.role, to, ...lacks },
      'member.removed': { role: member?.role, reason: 'removed' },
    }[type] ?? { reason: 'second_factor' };
    const isSuspended = type === 'member.suspended' || (suspended ?? false);
    if (type === 'member.removed') org.members.delete(name!);
    else org.members.set(name!, { role: to, isSuspended });
    this.append(type, { org, user }, data);
  }

  private changeOrg({ change: type, in: seconds }: Change, org: Org): void {
    if (type === 'org.deleted') org.isDeleted = true;
    if (type === 'org.restored') org.isDeleted = false;
    if (type === 'org.second_factor_required') {
      org.requiredFrom = seconds === undefined ? undefined : Date.now() + seconds * 1000;
      const from = seconds === undefined ? null : new Date(org.requiredFrom!).toISOString();
      this.append(type, { org }, { from });
    } else this.append(type, { org }, {});
  }

  private changeKey({ change: type, key: name, user, org, role, life }: Change): void {
    if (type === 'key.created')
      this.addKey(name!, { user: user!, ...(org && { org }), ...(role && { role }), ...(life && { life }) });
    const key = this.keys.get(name!)!;
    key.isRevoked = type === 'key.revoked';
    const data = key.isRevoked ? { reason: 'revoked' } : { service: SERVICE, role: key.role ?? 'member' };
    const [owner, ofOrg] = [
      this.users.get(key.user)!,
      key.org === undefined ? key.org : this.orgs.get(key.org),
    ];
    if (!ofOrg) owner.revision += 1;
    this.append(type, { org: ofOrg, user: owner }, { keyId: key.id, ...data });
  }

  private changeService({ change: type, service = SERVICE, to, keys }: Change): void {
    if (type === 'service.allowed') {
      const [from, scopes] = [this.hasKeys, (this.hasKeys = keys ?? false)].map(
        (has) => `events${has ? ',keys' : ''}`,
      );
      this.append(type, {}, { service, from, to: scopes });
      return;
    }
    if (type === 'service.enabled') this.isDisabled = false;
    else {
      this.viaEpoch += 1;
      this.ends.set(to === undefined ? service : `${service} ${to}`, this.viaEpoch);
    }
    this.append(type, {}, { service, ...(to !== undefined && { to }) });
    if (type !== 'service.disabled') return;
    this.append('service.tokens_ended', {}, { service });
    this.isDisabled = service === SERVICE;
  }

  private changeUser(type: string, user: User): void {
    const state = type.slice('account.'.length);
    if (state === 'disabled' || state === 'enabled' || state === 'deleted') user.state = state;
    user.revision += 1;
    const data = type === 'account.profile_changed' ? { changed: ['name'] } : {};
    this.append(type, { user }, data);
  }

  private append(type: string, { org, user, sessionId }: About, data: object): void {
    if (org) org.revision += 1;
    const id = `00000000-0000-7000-8000-${(this.events.length + 1).toString(16).padStart(12, '0')}`;
    const userRevision = /^(account|key)\./.test(type) && !org ? user!.revision : null;
    const ofOrg = { orgId: org?.id ?? null, orgRevision: org?.revision ?? null };
    const ofUser = { userId: user?.id ?? null, userRevision, sessionId: sessionId ?? null };
    const actor = { type: 'operator', id: null };
    this.events.push({ id, type, at: new Date().toISOString(), ...ofOrg, ...ofUser, data, actor } as never);
  }
}
