import { type Change, SERVICE } from './script.ts';
import type { About, Org, User } from './subjects.ts';
import type { World } from './world.ts';

/** Changes a world, and appends the events that Accounts would write. */
export class Changes {
  private readonly world: World;

  constructor(world: World) {
    this.world = world;
  }

  apply(step: Change): void {
    const { change: type } = step;
    const org = step.org === undefined ? undefined : this.world.orgs.get(step.org)!;
    const user = step.user === undefined ? undefined : this.world.users.get(step.user)!;
    if (type === 'session.started') this.world.start(step.session!, { user: step.user! });
    else if (type.startsWith('session.')) this.endSessions(step, user);
    else if (type.startsWith('member.')) this.changeMember(step, org!, user!);
    else if (type.startsWith('org.')) this.changeOrg(step, org!);
    else if (type.startsWith('service.')) this.changeService(step);
    else if (type.startsWith('key.')) this.changeKey(step);
    else this.changeUser(type, user!);
  }

  private endSessions({ session, except, withoutEpoch }: Change, user: User | undefined): void {
    if (session !== undefined) {
      const ended = this.world.sessions.get(session)!;
      ended.ended = true;
      const about = { user: this.world.users.get(ended.user), sessionId: ended.id };
      this.append('session.ended', about, { reason: 'revoked' });
      return;
    }
    user!.epoch += 1;
    for (const [name, one] of this.world.sessions) {
      if (this.world.users.get(one.user) === user && name !== except) one.ended = true;
    }
    const epoch = withoutEpoch ? {} : { epoch: user!.epoch };
    const kept = except === undefined ? {} : { except: this.world.sessions.get(except)!.id };
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
      this.world.addKey(name!, {
        user: user!,
        ...(org && { org }),
        ...(role && { role }),
        ...(life && { life }),
      });
    const key = this.world.keys.get(name!)!;
    key.isRevoked = type === 'key.revoked';
    const data = key.isRevoked ? { reason: 'revoked' } : { service: SERVICE, role: key.role ?? 'member' };
    const owner = this.world.users.get(key.user)!;
    const ofOrg = key.org === undefined ? undefined : this.world.orgs.get(key.org);
    if (!ofOrg) owner.revision += 1;
    this.append(type, { org: ofOrg, user: owner }, { keyId: key.id, ...data });
  }

  private changeService({ change: type, service = SERVICE, to, keys }: Change): void {
    if (type === 'service.allowed') {
      const from = this.scopes();
      this.world.hasKeys = keys ?? false;
      this.append(type, {}, { service, from, to: this.scopes() });
      return;
    }
    if (type === 'service.enabled') this.world.isDisabled = false;
    else {
      this.world.viaEpoch += 1;
      this.world.ends.set(to === undefined ? service : `${service} ${to}`, this.world.viaEpoch);
    }
    this.append(type, {}, { service, ...(to !== undefined && { to }) });
    if (type !== 'service.disabled') return;
    this.append('service.tokens_ended', {}, { service });
    this.world.isDisabled = service === SERVICE;
  }

  private scopes(): string {
    return this.world.hasKeys ? 'events,keys' : 'events';
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
    const id = `00000000-0000-7000-8000-${(this.world.events.length + 1).toString(16).padStart(12, '0')}`;
    const userRevision = /^(account|key)\./.test(type) && !org ? user!.revision : null;
    const ofOrg = { orgId: org?.id ?? null, orgRevision: org?.revision ?? null };
    const ofUser = { userId: user?.id ?? null, userRevision, sessionId: sessionId ?? null };
    const actor = { type: 'operator', id: null };
    this.world.events.push({
      id,
      type,
      at: new Date().toISOString(),
      ...ofOrg,
      ...ofUser,
      data,
      actor,
    } as never);
  }
}
