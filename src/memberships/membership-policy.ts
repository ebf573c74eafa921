import { type Role, roleAtLeast } from '../access/role.js';
import type { AdditionFacts, ChangeFacts } from './members.repository.js';
import {
  AlreadyMemberError,
  InsufficientRoleError,
  LastOwnerError,
  MemberNotFoundError,
  NotAMemberError,
  UserNotFoundError,
} from './memberships.errors.js';

/** Admins manage members and admins; only owners manage owners or make them. */
export function canChangeRole(actor: Role, from: Role, to: Role): boolean {
  if (actor === 'owner') return true;
  return roleAtLeast(actor, 'admin') && from !== 'owner' && to !== 'owner';
}

export function canRemove(actor: Role, target: Role): boolean {
  if (actor === 'owner') return true;
  return roleAtLeast(actor, 'admin') && target !== 'owner';
}

/** @param onlyVerified whether an account whose e-mail is not verified counts as none */
export function requireAddition(
  { actorRole, userId, emailVerifiedAt, targetRole }: AdditionFacts,
  onlyVerified: boolean,
): string {
  requireAdmin(actorRole);
  if (userId === null || (onlyVerified && emailVerifiedAt === null)) throw new UserNotFoundError();
  if (targetRole !== null) throw new AlreadyMemberError();
  return userId;
}

export function requireChange({ actorRole, targetRole, hasOtherOwner }: ChangeFacts, to: Role): Role {
  requireAdmin(actorRole);
  if (targetRole === null) throw new MemberNotFoundError();
  if (!canChangeRole(actorRole, targetRole, to)) throw new InsufficientRoleError('owner', actorRole);
  if (targetRole === 'owner' && to !== 'owner' && !hasOtherOwner) throw new LastOwnerError();
  return targetRole;
}

export function requireRemoval({ actorRole, targetRole, hasOtherOwner }: ChangeFacts): Role {
  requireAdmin(actorRole);
  if (targetRole === null) throw new MemberNotFoundError();
  if (!canRemove(actorRole, targetRole)) throw new InsufficientRoleError('owner', actorRole);
  if (targetRole === 'owner' && !hasOtherOwner) throw new LastOwnerError();
  return targetRole;
}

export function requireAdmin(role: Role | null): asserts role is Role {
  if (role === null) throw new NotAMemberError();
  if (!roleAtLeast(role, 'admin')) throw new InsufficientRoleError('admin', role);
}
