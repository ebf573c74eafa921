import { type Role, ROLES } from '../../support/personas.js';

const RECOVERY_CODES = 10;
const MAX_WRONG_CODES = 10;

/** Its message is the status and the code of the answer. */
export class Refused extends Error {}

function demand(holds: unknown, status: number, code: string): asserts holds {
  if (!holds) throw new Refused(`${status} ${code}`);
}

function at<T>(items: readonly T[], index: number): T {
  const item = items[index];
  if (item === undefined) throw new Error(`the model has no such thing: ${index}`);
  return item;
}

/** A code as somebody shows it: the next of the app, six wrong digits, or one of the recovery codes. */
export type ShownCode = 'app' | 'wrong digits' | { recovery: number };

export interface Shown {
  service: string;
  secret: number;
}

export type ServiceChange = 'rotate' | 'revoke' | 'revoke and end' | 'disable' | 'enable';

interface ModelSession {
  user: string;
  /** the session that issued its code; undefined for a login */
  parent: number | undefined;
  revoked: boolean;
  /** what a code for one service has opened is alive while the service stays in this epoch */
  bound: { service: string; epoch: number } | undefined;
}

interface ModelCode {
  issuer: number;
  /** its session was kept when all others ended */
  isVoid: boolean;
  usedBy: number | undefined;
  audience: string | undefined;
}

interface ModelOrg {
  name: string;
  members: Map<string, Role>;
  isDeleted: boolean;
}

interface ModelInvitation {
  org: number;
  email: string;
  role: Role;
  by: string;
  status: 'pending' | 'accepted' | 'declined' | 'revoked';
}

/** @param version rises when the factor is enabled or removed */
function noFactor(version: number) {
  return { isPending: false, isEnabled: false, version, wrong: { login: 0, 'signed-in': 0 } };
}

/**
 * What the service promises, without its storage: a few maps and the rules of the role matrix. Users are named by email,
 * everything else by the order of its making. A request returns the status of its success, or throws `Refused`.
 */
export class ReferenceModel {
  readonly users = new Set<string>();
  readonly sessions: ModelSession[] = [];
  readonly codes: ModelCode[] = [];
  readonly orgs: ModelOrg[] = [];
  readonly invitations: ModelInvitation[] = [];
  readonly services = new Map<string, { epoch: number; isEnabled: boolean }>();
  readonly secrets: { service: string; revoked: boolean }[] = [];
  readonly recoveryCodes: { user: string; isUsable: boolean }[] = [];
  readonly challenges: { user: string; version: number }[] = [];
  private readonly factors = new Map<string, ReturnType<typeof noFactor>>();

  register(user: string): number {
    demand(!this.users.has(user), 409, 'email_taken');
    this.users.add(user);
    this.open(user);
    return 201;
  }

  login(user: string, isRight: boolean): number {
    demand(isRight && this.users.has(user), 401, 'invalid_credentials');
    const { isEnabled, version } = this.factorOf(user);
    if (isEnabled) this.challenges.push({ user, version });
    demand(!isEnabled, 403, 'second_factor_required');
    this.open(user);
    return 200;
  }

  secondStep(challenge: number, code: ShownCode): number {
    const { user, version } = at(this.challenges, challenge);
    demand(this.factorOf(user).version === version, 401, 'invalid_challenge');
    this.show(user, code, 'login');
    this.open(user);
    return 200;
  }

  beginSecondFactor(session: number): number {
    const factor = this.factorOf(this.loggedIn(session));
    demand(!factor.isEnabled, 409, 'second_factor_enabled');
    factor.isPending = true;
    return 201;
  }

  confirmSecondFactor(session: number, isRight: boolean): number {
    const user = this.loggedIn(session);
    const factor = this.factorOf(user);
    demand(!factor.isEnabled, 409, 'second_factor_enabled');
    demand(factor.isPending, 400, 'invalid_second_factor_code');
    this.show(user, isRight ? 'app' : 'wrong digits', 'signed-in');
    Object.assign(factor, { isPending: false, isEnabled: true, version: factor.version + 1 });
    this.renewRecoveryCodes(user, RECOVERY_CODES);
    this.endOthers(session);
    return 200;
  }

  changeSecondFactor(session: number, change: 'renew' | 'remove', code: ShownCode): number {
    const user = this.loggedIn(session);
    const { isEnabled, version } = this.factorOf(user);
    demand(isEnabled, 400, 'invalid_second_factor_code');
    this.show(user, code, 'signed-in');
    this.renewRecoveryCodes(user, change === 'renew' ? RECOVERY_CODES : 0);
    if (change === 'renew') return 200;
    this.factors.set(user, noFactor(version + 1));
    this.endOthers(session);
    return 200;
  }

  userOf(session: number): string {
    return at(this.sessions, session).user;
  }

  me(session: number): number {
    demand(this.isLive(session), 401, 'invalid_token');
    return 200;
  }

  orgsOf(user: string): number[] {
    return [...this.orgs.keys()].filter((index) => {
      const { isDeleted, members } = at(this.orgs, index);
      return !isDeleted && members.has(user);
    });
  }

  issueCode(session: number, audience?: string): number {
    this.unbound(session);
    demand(audience === undefined || this.services.get(audience)?.isEnabled, 400, 'validation_failed');
    this.codes.push({ issuer: session, isVoid: false, usedBy: undefined, audience });
    return 201;
  }

  logout(session: number): number {
    this.me(session);
    this.revoke(session);
    return 200;
  }

  /**
   * A code works once, while the session that asked for it lives; a second use ends all that the first one began. A caller who
   * is not the service that it is for changes nothing.
   */
  exchange(index: number, by?: Shown): number {
    if (by) {
      const { service, revoked } = at(this.secrets, by.secret);
      const isProved = service === by.service && !revoked && this.services.get(service)?.isEnabled;
      demand(isProved, 401, 'invalid_client');
    }
    const code = at(this.codes, index);
    const { issuer, audience, usedBy, isVoid } = code;
    demand(!isVoid && (audience === undefined || audience === by?.service), 400, 'invalid_code');
    if (usedBy !== undefined) this.revoke(usedBy);
    demand(usedBy === undefined && this.isLive(issuer), 400, 'invalid_code');
    code.usedBy = this.open(this.userOf(issuer), issuer, audience);
    return 200;
  }

  addService(name: string): void {
    this.services.set(name, { epoch: 0, isEnabled: true });
    this.secrets.push({ service: name, revoked: false });
  }

  liveSecrets(service: string): number[] {
    return [...this.secrets.keys()].filter((index) => {
      const secret = at(this.secrets, index);
      return secret.service === service && !secret.revoked;
    });
  }

  /** What a disabled service has opened stays ended when the service is enabled. Revokes the oldest secret. */
  changeService(name: string, change: ServiceChange): void {
    const service = this.services.get(name)!;
    if (change === 'rotate') this.secrets.push({ service: name, revoked: false });
    if (change.startsWith('revoke')) at(this.secrets, this.liveSecrets(name)[0]!).revoked = true;
    if (change === 'revoke and end' || (change === 'disable' && service.isEnabled)) service.epoch += 1;
    if (change === 'disable' || change === 'enable') service.isEnabled = change === 'enable';
  }

  createOrg(session: number, name: string): number {
    const user = this.unbound(session);
    this.orgs.push({ name, members: new Map([[user, 'owner']]), isDeleted: false });
    return 201;
  }

  readOrg(session: number, index: number, least: Role = 'member'): number {
    this.me(session);
    const { isDeleted, members } = at(this.orgs, index);
    demand(!isDeleted, 404, 'org_not_found');
    const role = members.get(this.userOf(session));
    demand(role, 403, 'not_a_member');
    demand(ROLES.indexOf(role) >= ROLES.indexOf(least), 403, 'insufficient_role');
    return 200;
  }

  addMember(session: number, index: number, email: string, role: Role): number {
    const { members } = this.orgFor(session, index, 'admin');
    demand(role !== 'owner', 400, 'validation_failed');
    demand(this.users.has(email), 404, 'user_not_found');
    demand(!members.has(email), 409, 'already_member');
    members.set(email, role);
    this.revokeInvitations((one) => one.org === index && one.email === email);
    return 201;
  }

  changeRole(session: number, index: number, target: string, role: Role): number {
    const { members } = this.orgFor(session, index, 'admin');
    this.demandTarget(session, members, target, role);
    demand(role === 'owner' || !isLastOwner(members, target), 409, 'last_owner');
    members.set(target, role);
    if (role === 'member') this.revokeInvitations((one) => one.org === index && one.by === target);
    return 200;
  }

  removeMember(session: number, index: number, target: string): number {
    const { members } = this.orgFor(session, index, 'admin');
    this.demandTarget(session, members, target);
    return this.removeUnlessLastOwner(index, target);
  }

  leaveOrg(session: number, index: number): number {
    const { members } = this.orgFor(session, index, 'member');
    const me = this.userOf(session);
    if (members.get(me) === 'owner') this.demandDirect(session);
    return this.removeUnlessLastOwner(index, me);
  }

  transfer(session: number, index: number, target: string, leaves: boolean): number {
    const { members } = this.orgFor(session, index, 'owner');
    this.demandDirect(session);
    const me = this.userOf(session);
    demand(target !== me && this.users.has(target), 400, 'validation_failed');
    demand(members.has(target), 404, 'member_not_found');
    members.set(target, 'owner');
    if (leaves) return this.removeUnlessLastOwner(index, me);
    members.set(me, 'admin');
    return 200;
  }

  rename(session: number, index: number, name: string): number {
    this.orgFor(session, index, 'admin').name = name;
    return 200;
  }

  deleteOrg(session: number, index: number): number {
    const org = this.orgFor(session, index, 'owner');
    this.demandDirect(session);
    org.isDeleted = true;
    this.revokeInvitations((one) => one.org === index);
    return 200;
  }

  restoreOrg(session: number, index: number): number {
    const user = this.loggedIn(session);
    const org = at(this.orgs, index);
    demand(org.isDeleted && org.members.get(user) === 'owner', 404, 'org_not_found');
    org.isDeleted = false;
    return 200;
  }

  invite(session: number, index: number, email: string, role: Role): number {
    const { members } = this.orgFor(session, index, 'admin');
    demand(role !== 'owner', 400, 'validation_failed');
    demand(!members.has(email), 409, 'already_member');
    const invited = this.invitations.filter((one) => one.org === index && one.email === email);
    demand(!invited.some(({ status }) => status === 'pending'), 409, 'already_invited');
    this.invitations.push({ org: index, email, role, by: this.userOf(session), status: 'pending' });
    return 201;
  }

  changeInvitation(session: number, index: number, change: 'resend' | 'revoke'): number {
    const invitation = at(this.invitations, index);
    this.orgFor(session, invitation.org, 'admin');
    demand(invitation.status === 'pending', 409, 'invitation_ended');
    if (change === 'resend') invitation.by = this.userOf(session);
    else invitation.status = 'revoked';
    return 200;
  }

  answer(session: number, index: number, answer: 'accept' | 'decline', hasCode: boolean): number {
    const user = this.loggedIn(session);
    const invitation = at(this.invitations, index);
    const { email, role, status } = invitation;
    const { members } = at(this.orgs, invitation.org);
    demand(user === email, 404, 'invitation_not_found');
    demand(hasCode, 403, 'email_not_verified');
    demand(answer === 'decline' || !members.has(email), 409, 'already_member');
    demand(status === 'pending', 409, 'invitation_ended');
    invitation.status = answer === 'accept' ? 'accepted' : 'declined';
    if (answer === 'accept') members.set(email, role);
    return 200;
  }

  registerInvited(user: string, index: number): number {
    const invitation = at(this.invitations, index);
    const { email, status, org, role } = invitation;
    demand(email === user && status === 'pending', 400, 'invalid_invitation_code');
    const registered = this.register(user);
    invitation.status = 'accepted';
    at(this.orgs, org).members.set(user, role);
    return registered;
  }

  private isLive(session: number): boolean {
    const { revoked, bound } = at(this.sessions, session);
    if (revoked || !bound) return !revoked;
    const service = this.services.get(bound.service);
    return service?.isEnabled === true && service.epoch === bound.epoch;
  }

  /** All but a few routes reject the token that a code for one service opens. */
  private unbound(session: number): string {
    this.me(session);
    const { bound, user } = at(this.sessions, session);
    demand(!bound, 403, 'insufficient_scope');
    return user;
  }

  private loggedIn(session: number): string {
    const user = this.unbound(session);
    this.demandDirect(session);
    return user;
  }

  private demandDirect(session: number): void {
    demand(at(this.sessions, session).parent === undefined, 403, 'direct_session_required');
  }

  private orgFor(session: number, index: number, least: Role): ModelOrg {
    this.unbound(session);
    this.readOrg(session, index, least);
    return at(this.orgs, index);
  }

  /** Only an owner with a direct session gives the role of an owner, or touches one who has it. */
  private demandTarget(session: number, members: Map<string, Role>, target: string, role?: Role): void {
    const theirs = members.get(target);
    demand(theirs, 404, 'member_not_found');
    if (role !== 'owner' && theirs !== 'owner') return;
    demand(members.get(this.userOf(session)) === 'owner', 403, 'insufficient_role');
    this.demandDirect(session);
  }

  private removeUnlessLastOwner(index: number, user: string): number {
    const { members } = at(this.orgs, index);
    demand(!isLastOwner(members, user), 409, 'last_owner');
    members.delete(user);
    this.revokeInvitations((one) => one.org === index && one.by === user);
    return 200;
  }

  private revokeInvitations(among: (invitation: ModelInvitation) => boolean): void {
    for (const one of this.invitations) if (one.status === 'pending' && among(one)) one.status = 'revoked';
  }

  private factorOf(user: string): ReturnType<typeof noFactor> {
    const factor = this.factors.get(user) ?? noFactor(0);
    this.factors.set(user, factor);
    return factor;
  }

  /** Counts or uses the code. A recovery code is always taken; digits are not after too many wrong ones. */
  private show(user: string, code: ShownCode, scope: 'login' | 'signed-in'): void {
    const { wrong } = this.factorOf(user);
    if (typeof code === 'object') {
      const found = at(this.recoveryCodes, code.recovery);
      demand(found.user === user && found.isUsable, 400, 'invalid_second_factor_code');
      found.isUsable = false;
    } else {
      demand(wrong[scope] < MAX_WRONG_CODES, 429, 'rate_limited');
      if (code === 'wrong digits') wrong[scope] += 1;
      demand(code === 'app', 400, 'invalid_second_factor_code');
    }
    wrong[scope] = 0;
  }

  private renewRecoveryCodes(user: string, count: number): void {
    for (const code of this.recoveryCodes) if (code.user === user) code.isUsable = false;
    for (let made = 0; made < count; made += 1) this.recoveryCodes.push({ user, isUsable: true });
  }

  private open(user: string, parent?: number, audience?: string): number {
    const service = audience === undefined ? undefined : this.services.get(audience);
    const bound = service && { service: audience!, epoch: service.epoch };
    return this.sessions.push({ user, parent, revoked: false, bound }) - 1;
  }

  /** What the session has not opened yet ends as well. */
  private endOthers(session: number): void {
    for (const code of this.codes) if (code.issuer === session) code.isVoid = true;
    const user = this.userOf(session);
    for (const [other, found] of this.sessions.entries()) {
      if (other !== session && found.user === user) found.revoked = true;
    }
  }

  /** Ends a login with all below it, and a session that a code opened with its whole branch. */
  private revoke(session: number): void {
    const root = this.pathTo(session).slice(0, 2).at(-1);
    for (const [other, found] of this.sessions.entries()) {
      if (this.pathTo(other).slice(0, 2).includes(root!)) found.revoked = true;
    }
  }

  /** From the login down: the sessions whose codes led to it, and itself. */
  private pathTo(session: number): number[] {
    const { parent } = at(this.sessions, session);
    return parent === undefined ? [session] : [...this.pathTo(parent), session];
  }
}

function isLastOwner(members: ReadonlyMap<string, Role>, user: string): boolean {
  const owners = [...members].filter(([, role]) => role === 'owner');
  return owners.length === 1 && owners[0]![0] === user;
}
