import { type Role, roleAtLeast, type UserActor } from '../../access/principal.js';
import { BY_PASSWORD, requireAssurance } from '../../access/route-access.js';
import type { AdditionFacts, MemberPair } from './members.repository.js';
import { InsufficientRoleError } from './orgs.errors.js';
import type { OrgRow } from './orgs.repository.js';
import { Problem } from '../../problems/problem.js';

export function canChangeRole(actor: Role, from: Role, to: Role): boolean {
  if (actor === 'owner') return true;
  return roleAtLeast(actor, 'admin') && from !== 'owner' && to !== 'owner';
}

export function canRemove(actor: Role, target: Role): boolean {
  if (actor === 'owner') return true;
  return roleAtLeast(actor, 'admin') && target !== 'owner';
}

type Session = Pick<UserActor, 'isDelegated'>;

interface EndingMembership {
  role: Role | null;
  hasOtherOwner: 0 | 1;
}

const lastOwner = (): Error => new Problem('last_owner', { remedy: { action: 'transfer' } });

interface OwnerRule<T> {
  /** lets an operator leave an organization without an enabled owner */
  force?: boolean;
  refuse?: (orphaned: T[]) => Error;
}

/**
 * @returns the memberships whose organization has no enabled owner now, by force
 * @throws last_owner, or what `refuse` makes of those memberships
 */
export function requireOtherOwner<T extends EndingMembership>(
  memberships: readonly T[],
  { force = false, refuse = lastOwner }: OwnerRule<T> = {},
): T[] {
  const orphaned = memberships.filter(({ role, hasOtherOwner }) => role === 'owner' && !hasOtherOwner);
  if (orphaned.length > 0 && !force) throw refuse(orphaned);
  return orphaned;
}

/** @param onlyVerified whether an account whose email is not verified counts as none */
export function requireAddition(
  { actorRole, userId, emailVerifiedAt, targetRole }: AdditionFacts,
  onlyVerified: boolean,
): string {
  requireAdmin(actorRole);
  if (userId === null || (onlyVerified && emailVerifiedAt === null)) throw new Problem('user_not_found');
  if (targetRole !== null) throw new Problem('already_member');
  return userId;
}

/** A service with a delegated session could otherwise hand over the organization. */
function requirePasswordForOwners(session: Session, ...roles: Role[]): void {
  if (roles.includes('owner')) requireAssurance(session, BY_PASSWORD);
}

export function requireChange(facts: MemberPair, to: Role, session: Session): Role {
  const { actorRole, targetRole } = facts;
  requireAdmin(actorRole);
  if (targetRole === null) throw new Problem('member_not_found');
  if (!canChangeRole(actorRole, targetRole, to)) throw new InsufficientRoleError('owner', actorRole);
  requirePasswordForOwners(session, targetRole, to);
  // A disabled owner stays owner; no other disabled member becomes one.
  if (to === 'owner' && facts.isTargetDisabled && targetRole !== 'owner')
    throw new Problem('member_disabled');
  if (to !== 'owner') requireOtherOwner([endingOf(facts)]);
  return targetRole;
}

export function requireRemoval(facts: MemberPair, session: Session): Role {
  const { actorRole, targetRole } = facts;
  requireAdmin(actorRole);
  if (targetRole === null) throw new Problem('member_not_found');
  if (!canRemove(actorRole, targetRole)) throw new InsufficientRoleError('owner', actorRole);
  requirePasswordForOwners(session, targetRole);
  requireOtherOwner([endingOf(facts)]);
  return targetRole;
}

export function requireLeaving(facts: MemberPair, session: Session): Role {
  const { targetRole } = facts;
  if (targetRole === null) throw new Problem('not_a_member');
  requirePasswordForOwners(session, targetRole);
  requireOtherOwner([endingOf(facts)]);
  return targetRole;
}

/** The new owner has to be enabled, so that there is one whether the old one stays or leaves. */
export function requireTransfer(facts: MemberPair): Role {
  requireOwner(facts.actorRole);
  if (facts.targetRole === null) throw new Problem('member_not_found');
  if (facts.isTargetDisabled) throw new Problem('member_disabled');
  return facts.targetRole;
}

function endingOf({ targetRole, hasOtherOwner }: MemberPair): EndingMembership {
  return { role: targetRole, hasOtherOwner };
}

export function requireAdmin(role: Role | null): asserts role is Role {
  requireRole(role, 'admin');
}

export function requireOwner(role: Role | null): asserts role is Role {
  requireRole(role, 'owner');
}

function requireRole(role: Role | null, least: Role): asserts role is Role {
  if (role === null) throw new Problem('not_a_member');
  if (!roleAtLeast(role, least)) throw new InsufficientRoleError(least, role);
}

/** Does not reveal why an organization cannot be restored, nor that it exists. */
export function requireRestorable(
  { purgeAt, purgeBeganAt }: Pick<OrgRow, 'purgeAt' | 'purgeBeganAt'>,
  now: number,
): void {
  if (purgeAt === null || purgeBeganAt !== null || purgeAt <= now) throw new Problem('org_not_found');
}

/** Additions leave room for a user's own organizations, so that strangers cannot use up the limit. */
export function additionsUpTo(maxOrgsPerUser: number): number {
  return Math.max(1, Math.floor((maxOrgsPerUser * 4) / 5));
}
