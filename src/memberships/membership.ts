import type { Role } from '../access/role.js';
import type { Transaction } from '../database/transaction.js';
import { isEntityId } from '../identifiers/entity-id.js';
import { OrgNotFoundError } from './memberships.errors.js';
import { orgAtLimit } from './org-limit.js';

/**
 * Opens every change of a membership, and has to be the first thing of its transaction: the write takes an exclusive
 * lock on the organization's row, so nobody else changes its memberships until COMMIT. It is written and not only
 * locked, so that two changes of one organization conflict on a multi-primary cluster too; what is read before it
 * may have changed after the wait.
 *
 * @throws OrgNotFoundError
 */
export async function lockOrg(transaction: Transaction, orgId: string): Promise<void> {
  const sql = 'UPDATE orgs SET revision = revision + 1 WHERE id = ?';
  if ((await transaction.write(sql, [orgId])) === 0) throw new OrgNotFoundError();
}

export const FIND_ROLES =
  'SELECT user_id AS userId, role FROM members WHERE org_id = ? AND user_id IN (?, ?)';

interface Involved {
  actor: Role | undefined;
  target: Role | undefined;
}

/** The roles of two members, undefined for one who is none. Needs `lockOrg`. */
export async function findRoles(
  transaction: Transaction,
  orgId: string,
  actorId: string,
  targetId: string,
): Promise<Involved> {
  const rows = await transaction.read<{ userId: string; role: Role }>(FIND_ROLES, [
    orgId,
    actorId,
    nameable(targetId),
  ]);
  const roleOf = (id: string): Role | undefined => rows.find(({ userId }) => userId === id)?.role;
  return { actor: roleOf(actorId), target: roleOf(targetId) };
}

/** An id of another shape names nobody, and its characters may not even fit the column. */
function nameable(id: string): string {
  return isEntityId(id) ? id : '';
}

export function findRoleAndUserSql(maxOrgs: number): string {
  return `SELECT m.role, u.id AS userId, ${orgAtLimit(maxOrgs)} AS orgAtLimit
  FROM members m LEFT JOIN users u ON u.email = ?
  WHERE m.org_id = ? AND m.user_id = ?`;
}

interface Invitation {
  actor: Role | undefined;
  /** undefined: nobody has this e-mail */
  user: { id: string; atOrgLimit: boolean } | undefined;
}

/** The role of who adds, and who is to be added, and stays until COMMIT. Needs `lockOrg`. */
export async function findRoleAndUser(
  transaction: Transaction,
  { orgId, actorId, email }: { orgId: string; actorId: string; email: string },
  maxOrgs: number,
): Promise<Invitation> {
  const [row] = await transaction.read<{ role: Role; userId: string | null; orgAtLimit: string | null }>(
    findRoleAndUserSql(maxOrgs) + transaction.forUpdate,
    [email, orgId, actorId],
  );
  const id = row?.userId ?? undefined;
  return {
    actor: row?.role,
    user: id === undefined ? undefined : { id, atOrgLimit: row?.orgAtLimit !== null },
  };
}

export async function isMember(transaction: Transaction, orgId: string, userId: string): Promise<boolean> {
  const sql = 'SELECT user_id FROM members WHERE org_id = ? AND user_id = ?';
  return (await transaction.read<unknown>(sql, [orgId, userId])).length > 0;
}

export const FIND_TWO_OWNERS = "SELECT user_id FROM members WHERE org_id = ? AND role = 'owner' LIMIT 2";

/** Whether the organization would have no owner left without this one. Needs `lockOrg`. */
export async function hasOneOwner(transaction: Transaction, orgId: string): Promise<boolean> {
  const owners = await transaction.read<unknown>(FIND_TWO_OWNERS, [orgId]);
  return owners.length < 2;
}
