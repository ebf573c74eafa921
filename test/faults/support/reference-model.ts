import { ModelInvitations } from './model-invitations.js';
import { type AttemptScope, ModelSecondFactors, type ShownCode } from './model-second-factors.js';
import { type Bound, ModelServices, type Shown } from './model-services.js';

/** What the service promises, without its storage: a few maps and the rules of the role matrix. */

export type Role = 'member' | 'admin' | 'owner';

export interface Expected {
  status: number;
  code?: string;
}

const OK: Expected = { status: 200 };
const CREATED: Expected = { status: 201 };
const RANK: Readonly<Record<Role, number>> = { member: 0, admin: 1, owner: 2 };

const refused = (status: number, code: string): Expected => ({ status, code });

export interface ModelSession {
  user: string;
  /** the session that issued its code; undefined for a login */
  parent: number | undefined;
  revoked: boolean;
  /** undefined unless its code was for one service */
  bound: Bound | undefined;
}

interface ModelCode {
  issuer: number;
  /** its session was kept when all others ended */
  isVoid: boolean;
  usedBy: number | undefined;
  /** name of the one service that it is for */
  audience: string | undefined;
}

/** Users are named by email; sessions, codes and organizations by the order of their making. */
export class ReferenceModel {
  readonly users = new Map<string, string>();
  readonly sessions: ModelSession[] = [];
  readonly codes: ModelCode[] = [];
  readonly orgs: Map<string, Role>[] = [];
  readonly names: string[] = [];
  /** those that can be restored */
  readonly deleted = new Set<number>();
  readonly invitations = new ModelInvitations();
  readonly services = new ModelServices();
  readonly secondFactors = new ModelSecondFactors();

  register(email: string, password: string): Expected {
    if (this.users.has(email)) return refused(409, 'email_taken');
    this.users.set(email, password);
    this.open(email);
    return CREATED;
  }

  login(email: string, password: string): Expected {
    if (this.users.get(email) !== password) return refused(401, 'invalid_credentials');
    if (this.secondFactors.of(email).isEnabled) {
      this.secondFactors.challenge(email);
      return refused(403, 'second_factor_required');
    }
    this.open(email);
    return OK;
  }

  secondStep(challenge: number, code: ShownCode): Expected {
    const user = this.secondFactors.answered(challenge);
    if (user === undefined) return refused(401, 'invalid_challenge');
    const refusal = this.refusalOfCode(user, code, 'login');
    if (refusal) return refusal;
    this.open(user);
    return OK;
  }

  beginSecondFactor(session: number): Expected {
    const refusal = this.refusalOfPasswordSession(session);
    if (refusal) return refusal;
    const factor = this.secondFactors.of(this.userOf(session));
    if (factor.isEnabled) return refused(409, 'second_factor_enabled');
    factor.isPending = true;
    return CREATED;
  }

  confirmSecondFactor(session: number, isRight: boolean): Expected {
    const refusal = this.refusalOfPasswordSession(session);
    if (refusal) return refusal;
    const user = this.userOf(session);
    const { isEnabled, isPending } = this.secondFactors.of(user);
    if (isEnabled) return refused(409, 'second_factor_enabled');
    if (!isPending) return refused(400, 'invalid_second_factor_code');
    const refusalOfCode = this.refusalOfCode(user, isRight ? 'app' : 'wrong digits', 'signed-in');
    if (refusalOfCode) return refusalOfCode;
    this.secondFactors.enable(user);
    this.endOthers(session);
    return OK;
  }

  changeSecondFactor(session: number, change: 'renew' | 'remove', code: ShownCode): Expected {
    const refusal = this.refusalOfPasswordSession(session);
    if (refusal) return refusal;
    const user = this.userOf(session);
    if (!this.secondFactors.of(user).isEnabled) return refused(400, 'invalid_second_factor_code');
    const refusalOfCode = this.refusalOfCode(user, code, 'signed-in');
    if (refusalOfCode) return refusalOfCode;
    this.secondFactors[change](user);
    if (change === 'remove') this.endOthers(session);
    return OK;
  }

  isLive(session: number): boolean {
    const found = this.sessions[session];
    return found?.revoked === false && (found.bound === undefined || this.services.holds(found.bound));
  }

  userOf(session: number): string {
    const found = this.sessions[session];
    if (!found) throw new Error(`the model has no session ${session}`);
    return found.user;
  }

  me(session: number): Expected {
    return this.isLive(session) ? OK : refused(401, 'invalid_token');
  }

  orgsOf(email: string): number[] {
    return [...this.orgs.keys()].filter((org) => !this.deleted.has(org) && this.orgs[org]?.has(email));
  }

  issueCode(session: number, audience?: string): Expected {
    const refusal = this.refusalOfSession(session);
    if (refusal) return refusal;
    if (audience !== undefined && !this.services.isEnabled(audience))
      return refused(400, 'validation_failed');
    this.codes.push({ issuer: session, isVoid: false, usedBy: undefined, audience });
    return CREATED;
  }

  logout(session: number): Expected {
    if (!this.isLive(session)) return refused(401, 'invalid_token');
    this.revoke(session);
    return OK;
  }

  /**
   * A code works once, while the session that asked for it lives; a second use ends all that the first one began. A caller who
   * is not the service that it is for changes nothing.
   */
  exchange(index: number, by?: Shown): Expected {
    if (by && !this.services.prove(by)) return refused(401, 'invalid_client');
    const code = this.codes[index];
    if (!code || code.isVoid || (code.audience !== undefined && code.audience !== by?.service))
      return refused(400, 'invalid_code');
    if (code.usedBy !== undefined) {
      this.revoke(code.usedBy);
      return refused(400, 'invalid_code');
    }
    if (!this.isLive(code.issuer)) return refused(400, 'invalid_code');
    const { issuer, audience } = code;
    code.usedBy = this.open(this.userOf(issuer), issuer, audience);
    return OK;
  }

  createOrg(session: number, name: string): Expected {
    const refusal = this.refusalOfSession(session);
    if (refusal) return refusal;
    this.names.push(name);
    this.orgs.push(new Map([[this.userOf(session), 'owner']]));
    return CREATED;
  }

  readOrg(session: number, org: number): Expected {
    return this.refusalOfMember(session, org, 'member') ?? OK;
  }

  addMember(session: number, org: number, email: string, role: Role): Expected {
    const refusal = this.refusal(session, org, 'admin');
    if (refusal) return refusal;
    if (role === 'owner') return refused(400, 'validation_failed');
    if (!this.users.has(email)) return refused(404, 'user_not_found');
    if (this.members(org).has(email)) return refused(409, 'already_member');
    this.members(org).set(email, role);
    this.invitations.revokeOfEmail(org, email);
    return CREATED;
  }

  changeRole(session: number, org: number, target: string, role: Role): Expected {
    const refusal = this.refusal(session, org, 'admin') ?? this.refusalOfTarget(session, org, target, role);
    if (refusal) return refusal;
    if (role !== 'owner' && this.isLastOwner(org, target)) return refused(409, 'last_owner');
    this.members(org).set(target, role);
    if (role === 'member') this.invitations.revokeOfInviter(org, target);
    return OK;
  }

  removeMember(session: number, org: number, target: string): Expected {
    const refusal = this.refusal(session, org, 'admin') ?? this.refusalOfTarget(session, org, target);
    if (refusal) return refusal;
    if (this.isLastOwner(org, target)) return refused(409, 'last_owner');
    this.members(org).delete(target);
    this.invitations.revokeOfInviter(org, target);
    return OK;
  }

  leave(session: number, org: number): Expected {
    const refusal = this.refusal(session, org, 'member');
    if (refusal) return refusal;
    const me = this.userOf(session);
    if (this.members(org).get(me) === 'owner' && this.isByCode(session)) {
      return refused(403, 'step_up_required');
    }
    if (this.isLastOwner(org, me)) return refused(409, 'last_owner');
    this.members(org).delete(me);
    this.invitations.revokeOfInviter(org, me);
    return OK;
  }

  transfer(session: number, org: number, target: string, leaves: boolean): Expected {
    const refusal = this.refusalOfOwners(session, org);
    if (refusal) return refusal;
    const me = this.userOf(session);
    if (target === me || !this.users.has(target)) return refused(400, 'validation_failed');
    if (!this.members(org).has(target)) return refused(404, 'member_not_found');
    this.members(org).set(target, 'owner');
    if (leaves) {
      this.members(org).delete(me);
      this.invitations.revokeOfInviter(org, me);
    } else {
      this.members(org).set(me, 'admin');
    }
    return OK;
  }

  rename(session: number, org: number, name: string): Expected {
    const refusal = this.refusal(session, org, 'admin');
    if (refusal) return refusal;
    this.names[org] = name;
    return OK;
  }

  deleteOrg(session: number, org: number): Expected {
    const refusal = this.refusalOfOwners(session, org);
    if (refusal) return refusal;
    this.deleted.add(org);
    this.invitations.revokeOfOrg(org);
    return OK;
  }

  restoreOrg(session: number, org: number): Expected {
    const refusal = this.refusalOfPasswordSession(session);
    if (refusal) return refusal;
    const role = this.members(org).get(this.userOf(session));
    if (!this.deleted.has(org) || role !== 'owner') return refused(404, 'org_not_found');
    this.deleted.delete(org);
    return OK;
  }

  invite(session: number, org: number, email: string, role: Role): Expected {
    const refusal = this.refusal(session, org, 'admin');
    if (refusal) return refusal;
    if (role === 'owner') return refused(400, 'validation_failed');
    if (this.members(org).has(email)) return refused(409, 'already_member');
    if (this.invitations.pendingOf(org, email)) return refused(409, 'already_invited');
    this.invitations.all.push({ org, email, role, by: this.userOf(session), status: 'pending' });
    return CREATED;
  }

  resend(session: number, index: number): Expected {
    const invitation = this.invitations.get(index);
    const refusal = this.refusal(session, invitation.org, 'admin');
    if (refusal) return refusal;
    if (invitation.status !== 'pending') return refused(409, 'invitation_ended');
    invitation.by = this.userOf(session);
    return OK;
  }

  revokeInvitation(session: number, index: number): Expected {
    const invitation = this.invitations.get(index);
    const refusal = this.refusal(session, invitation.org, 'admin');
    if (refusal) return refusal;
    if (invitation.status !== 'pending') return refused(409, 'invitation_ended');
    invitation.status = 'revoked';
    return OK;
  }

  answer(session: number, index: number, answer: 'accept' | 'decline', hasCode: boolean): Expected {
    const refusal = this.refusalOfPasswordSession(session);
    if (refusal) return refusal;
    const invitation = this.invitations.get(index);
    const { org, email, role, status } = invitation;
    if (this.userOf(session) !== email) return refused(404, 'invitation_not_found');
    if (!hasCode) return refused(403, 'email_not_verified');
    if (answer === 'accept' && this.members(org).has(email)) return refused(409, 'already_member');
    if (status !== 'pending') return refused(409, 'invitation_ended');
    invitation.status = answer === 'accept' ? 'accepted' : 'declined';
    if (answer === 'accept') this.members(org).set(email, role);
    return OK;
  }

  registerInvited(email: string, password: string, index: number): Expected {
    const invitation = this.invitations.get(index);
    if (invitation.email !== email || invitation.status !== 'pending')
      return refused(400, 'invalid_invitation_code');
    const answer = this.register(email, password);
    if (answer.status !== 201) return answer;
    invitation.status = 'accepted';
    this.members(invitation.org).set(email, invitation.role);
    return answer;
  }

  members(org: number): Map<string, Role> {
    const members = this.orgs[org];
    if (!members) throw new Error(`the model has no organization ${org}`);
    return members;
  }

  /** The refusal of all but the few routes that the token of a code for one service opens, too. */
  private refusalOfSession(session: number): Expected | undefined {
    if (!this.isLive(session)) return refused(401, 'invalid_token');
    return this.sessions[session]?.bound ? refused(403, 'insufficient_scope') : undefined;
  }

  private refusalOfPasswordSession(session: number): Expected | undefined {
    const refusal = this.refusalOfSession(session);
    if (refusal) return refusal;
    return this.isByCode(session) ? refused(403, 'step_up_required') : undefined;
  }

  private refusalOfCode(user: string, code: ShownCode, scope: AttemptScope): Expected | undefined {
    const result = this.secondFactors.show(user, code, scope);
    if (result === 'right') return undefined;
    return result === 'wrong' ? refused(400, 'invalid_second_factor_code') : refused(429, 'rate_limited');
  }

  private refusal(session: number, org: number, least: Role): Expected | undefined {
    return this.refusalOfSession(session) ?? this.refusalOfMember(session, org, least);
  }

  private refusalOfMember(session: number, org: number, least: Role): Expected | undefined {
    if (!this.isLive(session)) return refused(401, 'invalid_token');
    const members = this.orgs[org];
    if (!members || this.deleted.has(org)) return refused(404, 'org_not_found');
    const role = members.get(this.userOf(session));
    if (!role) return refused(403, 'not_a_member');
    return RANK[role] < RANK[least] ? refused(403, 'insufficient_role') : undefined;
  }

  /** Of what only an owner does, logged in by password. */
  private refusalOfOwners(session: number, org: number): Expected | undefined {
    const refusal = this.refusal(session, org, 'owner');
    if (refusal) return refusal;
    return this.isByCode(session) ? refused(403, 'step_up_required') : undefined;
  }

  private isByCode(session: number): boolean {
    return this.sessions[session]?.parent !== undefined;
  }

  // Only an owner who logged in by password gives the role of an owner, or touches one who has it.
  private refusalOfTarget(session: number, org: number, target: string, role?: Role): Expected | undefined {
    const members = this.members(org);
    const mine = members.get(this.userOf(session));
    const theirs = members.get(target);
    if (!theirs) return refused(404, 'member_not_found');
    const touchesOwner = role === 'owner' || theirs === 'owner';
    if (!touchesOwner) return undefined;
    if (mine !== 'owner') return refused(403, 'insufficient_role');
    return this.isByCode(session) ? refused(403, 'step_up_required') : undefined;
  }

  private isLastOwner(org: number, email: string): boolean {
    const owners = [...this.members(org)].filter(([, role]) => role === 'owner');
    return owners.length === 1 && owners[0]?.[0] === email;
  }

  private open(user: string, parent?: number, audience?: string): number {
    const bound = audience === undefined ? undefined : this.services.bind(audience);
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
    const root = this.headOf(session) ?? session;
    for (const [other, found] of this.sessions.entries()) {
      if (other === root || this.headOf(other) === root || this.loginOf(other) === root) found.revoked = true;
    }
  }

  /** The first session that a code opened below the login; undefined for a login. */
  private headOf(session: number): number | undefined {
    const parent = this.sessions[session]?.parent;
    return parent === undefined ? undefined : (this.headOf(parent) ?? session);
  }

  private loginOf(session: number): number {
    const parent = this.sessions[session]?.parent;
    return parent === undefined ? session : this.loginOf(parent);
  }
}
