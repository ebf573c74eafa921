import { type Role, roleAtLeast } from '../access/role.js';
import { InsufficientRoleError, NotAMemberError } from './memberships.errors.js';

/** Admins manage members and admins; only owners touch owners, or make them. */
export function canChangeRole(actor: Role, from: Role, to: Role): boolean {
  if (actor === 'owner') return true;
  return roleAtLeast(actor, 'admin') && from !== 'owner' && to !== 'owner';
}

export function canRemove(actor: Role, target: Role): boolean {
  if (actor === 'owner') return true;
  return roleAtLeast(actor, 'admin') && target !== 'owner';
}

/** @throws NotAMemberError, InsufficientRoleError */
export function requireAdmin(role: Role | undefined): asserts role is Role {
  if (role === undefined) throw new NotAMemberError();
  if (!roleAtLeast(role, 'admin')) throw new InsufficientRoleError('admin', role);
}
