import type { Db } from './db.ts';

interface InviterRow {
  role: string;
  email: string;
  /** whoever has the e-mail, where that is a member */
  memberId: string | null;
}

interface InvitationRow {
  id: string;
  orgId: string;
  email: string;
  role: string;
  codeHash: string;
  invitedBy: string;
  createdAt: number;
  expiresAt: number;
}

export async function findInviter(
  db: Db,
  orgId: string,
  userId: string,
  invited: string,
): Promise<InviterRow | undefined> {
  const [inviter] = await db.query<InviterRow>(
    `SELECT a.role, a.email, m.user_id AS memberId
     FROM members a LEFT JOIN users u ON u.email = ?
       LEFT JOIN members m ON m.org_id = a.org_id AND m.user_id = u.id
     WHERE a.org_id = ? AND a.user_id = ?`,
    [invited, orgId, userId],
  );
  return inviter;
}

/** @throws DuplicateError when one is pending */
export function insertInvitation(db: Db, invitation: InvitationRow): Promise<number> {
  return db.run(
    `INSERT INTO invitations (id, org_id, email, role, status, pending, code_hash, invited_by, created_at, expires_at)
     VALUES (?, ?, ?, ?, 'pending', 1, ?, ?, ?, ?)`,
    [
      invitation.id,
      invitation.orgId,
      invitation.email,
      invitation.role,
      invitation.codeHash,
      invitation.invitedBy,
      invitation.createdAt,
      invitation.expiresAt,
    ],
  );
}

export function acceptInvitation(
  db: Db,
  accepted: { id: string; userId: string; codeHash: string; now: number },
): Promise<number> {
  return db.run(
    `UPDATE invitations SET status = 'accepted', pending = NULL, ended_at = ?
     WHERE id = ? AND pending = 1 AND expires_at > ? AND code_hash = ?
       AND email = (SELECT u.email FROM users u WHERE u.id = ?)`,
    [accepted.now, accepted.id, accepted.now, accepted.codeHash, accepted.userId],
  );
}

export function insertInvited(db: Db, id: string, userId: string, now: number): Promise<number> {
  return db.run(
    `INSERT INTO members (org_id, user_id, email, role, joined_at)
     SELECT org_id, ?, email, role, ? FROM invitations WHERE id = ?`,
    [userId, now, id],
  );
}

export async function findAccepted(
  db: Db,
  id: string,
): Promise<{ orgId: string; name: string; role: string }> {
  const [accepted] = await db.query<{ orgId: string; name: string; role: string }>(
    'SELECT o.id AS orgId, o.name, i.role FROM invitations i JOIN orgs o ON o.id = i.org_id WHERE i.id = ?',
    [id],
  );
  return accepted!;
}
