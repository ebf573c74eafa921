import type { EntityManager } from 'typeorm';
import type { Role } from '../access/role.js';
import { affectedRows, forUpdate } from '../database/statements.js';
import { isEntityId } from '../identifiers/entity-id.js';
import { OrgNotFoundError } from './members.errors.js';

/** The memberships that a decision is made from, as they are and stay until COMMIT. */
export interface LockedMemberships {
  roleOf(userId: string): Role | undefined;
  owners: number;
}

interface Row {
  userId: string;
  role: Role;
}

/**
 * Opens every change of a membership, and has to be the first thing of its transaction. Writing the
 * organization's own row makes two changes of one organization conflict, also on a multi-primary cluster,
 * where locking reads do not reach the other nodes; nothing may be read before it. The one locking read
 * then serves both the permission and the owner count.
 *
 * @throws OrgNotFoundError
 */
export async function lockMemberships(
  manager: EntityManager,
  orgId: string,
  userIds: [actor: string, target: string],
): Promise<LockedMemberships> {
  if ((await affectedRows(manager, 'UPDATE orgs SET revision = revision + 1 WHERE id = ?', [orgId])) === 0) {
    throw new OrgNotFoundError();
  }
  const rows = await manager.query<Row[]>(lockingRead(forUpdate(manager)), [
    orgId,
    ...userIds.map(nameable),
    orgId,
  ]);
  return {
    roleOf: (userId) => rows.find((row) => row.userId === userId)?.role,
    owners: rows.filter((row) => row.role === 'owner').length,
  };
}

/** An id of another shape names nobody, and its characters may not even fit the column. */
function nameable(id: string): string {
  return isEntityId(id) ? id : '';
}

/** Two index look-ups: with OR, the optimizer may walk and lock every member of a large organization. */
export function lockingRead(lock: string): string {
  const involved = `SELECT user_id AS userId, role FROM members WHERE org_id = ? AND user_id IN (?, ?)${lock}`;
  const owners = `SELECT user_id AS userId, role FROM members WHERE org_id = ? AND role = 'owner'${lock}`;
  return lock === '' ? `${involved} UNION ${owners}` : `(${involved}) UNION (${owners})`;
}
