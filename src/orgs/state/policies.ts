import { type Role, roleAtLeast, type UserActor } from '../../access/principal.js';
import { DIRECT_SESSION, requireAssurance } from '../../access/route-access.js';
import { InvalidTokenError } from '../../auth/tokens/access-token.js';
import { Problem } from '../../problems/problem.js';
import { statusAt } from './invitations.lists.js';
import type { AnsweringFacts, Found, InvitingFacts, RenewingFacts } from './invitations.repository.js';
import type { AdditionFacts, Membership, MemberPair } from './members.repository.js';
import { ONLY_MEMBER } from './orgs.errors.js';
import type { OrgRow } from './orgs.repository.js';

type ActorSession = Pick<UserActor, 'isDelegated'>;

export function requireRole(role: Role | null, least: Role): asserts role is Role {
  if (role === null) throw new Problem('not_a_member');
  if (!roleAtLeast(role, least)) {
    throw new Problem('insufficient_role', {
      detail: `This needs the role ${least}; yours is ${role}.`,
      extensions: { requiredRole: least, yourRole: role },
    });
  }
}

export function suspension(
  { isFactorRequired }: Pick<OrgRow, 'isFactorRequired'>,
  lacksFactor: boolean | 0 | 1,
): { suspended?: true } {
  return isFactorRequired && lacksFactor ? { suspended: true } : {};
}

/** Returns null for a user who is not a member or is suspended. */
export function activeRole(membership: Membership | undefined, hasSecondFactor: boolean): Role | null {
  if (!membership || (membership.isFactorRequired && !hasSecondFactor)) return null;
  return membership.role;
}

/** Admins may rename. What is required of the members is up to owners, and not to a delegated session. */
export function requireOrgChange(role: Role | null, isRequirement: boolean, session: ActorSession): void {
  requireRole(role, isRequirement ? 'owner' : 'admin');
  if (isRequirement) requireAssurance(session, DIRECT_SESSION);
}

export function isLastOwner(member: { role: Role | null; hasOtherOwner: 0 | 1 | null }): boolean {
  return member.role === 'owner' && !member.hasOtherOwner;
}

export function requireAddition(facts: AdditionFacts, onlyVerified: boolean): string {
  const { actorRole, userId, emailVerifiedAt, targetRole } = facts;
  requireRole(actorRole, 'admin');
  if (userId === null || (onlyVerified && emailVerifiedAt === null)) throw new Problem('user_not_found');
  if (targetRole !== null) throw new Problem('already_member');
  return userId;
}

export function requireChange(facts: MemberPair, to: Role, session: ActorSession): Role {
  requireTarget(facts, session, to);
  return requireChangeOf(facts, to);
}

/** Also for operators, who need no role. */
export function requireChangeOf(facts: MemberPair, to: Role): Role {
  const from = requireMember(facts);
  // A disabled owner stays owner; no other disabled member becomes one.
  if (to === 'owner' && from !== 'owner' && facts.isTargetDisabled) throw new Problem('member_disabled');
  if (to !== 'owner') requireOtherOwner(facts);
  return from;
}

export function requireRemoval(facts: MemberPair, session: ActorSession): Role {
  requireTarget(facts, session);
  return requireRemovalOf(facts);
}

/** Also for operators, who need no role. */
export function requireRemovalOf(facts: MemberPair): Role {
  const role = requireMember(facts);
  requireOtherOwner(facts);
  return role;
}

export function requireLeaving(facts: MemberPair, session: ActorSession): Role {
  const { targetRole } = facts;
  if (targetRole === null) throw new Problem('not_a_member');
  if (targetRole === 'owner') requireAssurance(session, DIRECT_SESSION);
  requireOtherOwner(facts);
  return targetRole;
}

/** The new owner must be enabled, so that the organization has an enabled owner even if the old one leaves. */
export function requireTransfer({ actorRole, targetRole, isTargetDisabled }: MemberPair): Role {
  requireRole(actorRole, 'owner');
  if (targetRole === null) throw new Problem('member_not_found');
  if (isTargetDisabled) throw new Problem('member_disabled');
  return targetRole;
}

/** Only owners change owners, and not by a delegated session: a service could hand over the organization. */
function requireTarget(facts: MemberPair, session: ActorSession, to?: Role): void {
  const { actorRole } = facts;
  requireRole(actorRole, 'admin');
  if (requireMember(facts) === 'owner' || to === 'owner') {
    requireRole(actorRole, 'owner');
    requireAssurance(session, DIRECT_SESSION);
  }
}

function requireMember({ targetRole }: MemberPair): Role {
  if (targetRole === null) throw new Problem('member_not_found');
  return targetRole;
}

function requireOtherOwner({ targetRole: role, hasOtherOwner, hasOtherMember }: MemberPair): void {
  if (!isLastOwner({ role, hasOtherOwner })) return;
  const remedy = { action: 'transfer' } as const;
  throw new Problem('last_owner', hasOtherMember ? { remedy } : { remedy, detail: ONLY_MEMBER });
}

/** Does not reveal why an organization cannot be restored, nor that it exists. */
export function requireRestorable(org: OrgRow | undefined, now: number): asserts org is OrgRow {
  const { purgeAt = null, purgeBeganAt } = org ?? {};
  if (purgeAt === null || purgeBeganAt !== null || purgeAt <= now) throw new Problem('org_not_found');
}

/** Leaves room for a user's own organizations, so that others cannot use up the limit. */
export function additionsUpTo(maxOrgsPerUser: number): number {
  return Math.max(1, Math.floor((maxOrgsPerUser * 4) / 5));
}

export function canInvite(role: Role | null): boolean {
  return role !== null && roleAtLeast(role, 'admin');
}

export function requireInviting(facts: InvitingFacts, now: number): void {
  requireActor(facts);
  requireUninvited(facts, now);
}

export function requireRenewing(facts: Found<RenewingFacts>, now: number): asserts facts is RenewingFacts {
  requireRevoking(facts);
  requireUninvited(facts, now, facts.id);
}

export function requireRevoking(facts: Found<RenewingFacts>): asserts facts is RenewingFacts {
  if (facts.id === null) throw new Problem('invitation_not_found');
  requireActor(facts);
  if (facts.status !== 'pending' && facts.status !== 'expired') throw new Problem('invitation_ended');
}

export function requireAnswer(facts: AnsweringFacts, hasCode: boolean, now: number): void {
  if (facts.userEmail !== facts.email) throw new Problem('invitation_not_found');
  if (facts.userVerifiedAt === null && !hasCode) throw new Problem('email_not_verified');
  if (!isOpen(facts, now)) throw new Problem('invitation_ended');
}

export function requireAcceptance(facts: AnsweringFacts, hasCode: boolean, now: number): void {
  const isMember = facts.userRole !== null && facts.userEmail === facts.email;
  if (isMember && (facts.userVerifiedAt !== null || hasCode)) throw new Problem('already_member');
  requireAnswer(facts, hasCode, now);
}

export function isOpen(facts: AnsweringFacts, now: number): boolean {
  return (
    statusAt(facts, now) === 'pending' &&
    facts.orgDeletedAt === null &&
    facts.inviterDisabledAt === null &&
    !facts.isInviterSuspended &&
    canInvite(facts.inviterRole)
  );
}

function requireActor({ actorRole, actorEmail, actorDisabledAt }: InvitingFacts): void {
  if (actorEmail === null || actorDisabledAt !== null) throw new InvalidTokenError('user_gone');
  requireRole(actorRole, 'admin');
}

function requireUninvited(facts: InvitingFacts, now: number, renewed?: string): void {
  const { targetRole, pendingId: invitationId, pendingUntil } = facts;
  if (targetRole !== null) throw new Problem('already_member');
  if (invitationId === null || invitationId === renewed || pendingUntil! <= now) return;
  throw new Problem('already_invited', { remedy: { action: 'resend', invitationId } });
}
