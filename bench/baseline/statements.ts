import type { Db } from './db.ts';

export interface UserRow {
  id: string;
  email: string;
}

export interface MemberRow {
  userId: string;
  email: string;
  role: string;
}

export interface SessionRow {
  id: string;
  userId: string;
  authTime: number;
  createdAt: number;
  expiresAt: number;
}

/** Whose login a code passes on. */
export interface IssuerRow {
  userId: string;
  authTime: number;
}

export function insertUser(db: Db, user: UserRow, passwordHash: string, now: number): Promise<number> {
  return db.run('INSERT INTO users (id, email, password_hash, created_at) VALUES (?, ?, ?, ?)', [
    user.id,
    user.email,
    passwordHash,
    now,
  ]);
}

export async function findUser(
  db: Db,
  email: string,
): Promise<(UserRow & { passwordHash: string }) | undefined> {
  const [user] = await db.query<UserRow & { passwordHash: string }>(
    'SELECT id, email, password_hash AS passwordHash FROM users WHERE email = ?',
    [email],
  );
  return user;
}

export function replacePasswordHash(db: Db, userId: string, passwordHash: string): Promise<number> {
  return db.run('UPDATE users SET password_hash = ? WHERE id = ?', [passwordHash, userId]);
}

export function insertSession(db: Db, session: SessionRow): Promise<number> {
  return db.run(
    'INSERT INTO sessions (id, user_id, auth_time, created_at, expires_at) VALUES (?, ?, ?, ?, ?)',
    [session.id, session.userId, session.authTime, session.createdAt, session.expiresAt],
  );
}

export function revokeSessionOfCode(db: Db, codeHash: string, now: number): Promise<number> {
  return db.run('UPDATE sessions SET revoked_at = ? WHERE code_hash = ? AND revoked_at IS NULL', [
    now,
    codeHash,
  ]);
}

/** One row for each organization; a user in none has one row without an organization. */
export function findUserWithOrgs(
  db: Db,
  userId: string,
): Promise<(UserRow & { orgId: string | null; orgName: string | null })[]> {
  return db.query(
    `SELECT u.id, u.email, o.id AS orgId, o.name AS orgName
     FROM users u LEFT JOIN members m ON m.user_id = u.id LEFT JOIN orgs o ON o.id = m.org_id
     WHERE u.id = ? ORDER BY m.joined_at, m.org_id`,
    [userId],
  );
}

export function insertCode(
  db: Db,
  code: { hash: string; sessionId: string; createdAt: number; expiresAt: number },
): Promise<number> {
  return db.run(
    'INSERT INTO authorization_codes (hash, session_id, created_at, expires_at) VALUES (?, ?, ?, ?)',
    [code.hash, code.sessionId, code.createdAt, code.expiresAt],
  );
}

export async function findIssuer(db: Db, codeHash: string): Promise<IssuerRow | undefined> {
  const [issuer] = await db.query<IssuerRow>(
    `SELECT s.user_id AS userId, s.auth_time AS authTime
     FROM authorization_codes c JOIN sessions s ON s.id = c.session_id WHERE c.hash = ?`,
    [codeHash],
  );
  return issuer;
}

/**
 * Inserts one row for exactly one of any number of simultaneous callers; none for a code that expired or whose
 * session, or the session that it came from, was revoked.
 *
 * @throws DuplicateError when the code was used before
 */
export function exchangeCode(db: Db, codeHash: string, granted: SessionRow): Promise<number> {
  return db.run(
    `INSERT INTO sessions (id, user_id, auth_time, created_at, expires_at, parent_id, code_hash)
     SELECT ?, s.user_id, s.auth_time, ?, ?, s.id, c.hash
     FROM authorization_codes c JOIN sessions s ON s.id = c.session_id
     LEFT JOIN sessions p ON p.id = s.parent_id
     WHERE c.hash = ? AND c.expires_at > ? AND s.revoked_at IS NULL
       AND (s.parent_id IS NULL OR (p.id IS NOT NULL AND p.revoked_at IS NULL))`,
    [granted.id, granted.createdAt, granted.expiresAt, codeHash, granted.createdAt],
  );
}

const AT_ORG_LIMIT = '(SELECT x.org_id FROM members x WHERE x.user_id = u.id LIMIT 1 OFFSET 4999)';

/** Inserts nothing where the creator is at the limit, or gone. */
export function insertOrg(
  db: Db,
  org: { id: string; name: string },
  creatorId: string,
  now: number,
): Promise<number> {
  return db.run(
    `INSERT INTO orgs (id, name, revision, created_at)
     SELECT ?, ?, 0, ? FROM users u WHERE u.id = ? AND ${AT_ORG_LIMIT} IS NULL${db.forUpdate}`,
    [org.id, org.name, now, creatorId],
  );
}

/** Who is to be added, whose row stays locked. */
export async function lockUser(
  db: Db,
  email: string,
): Promise<{ id: string; atLimit: string | null } | undefined> {
  const [user] = await db.query<{ id: string; atLimit: string | null }>(
    `SELECT u.id, ${AT_ORG_LIMIT} AS atLimit FROM users u WHERE u.email = ?${db.forUpdate}`,
    [email],
  );
  return user;
}

/** The organization and the caller's role in it, null for one who is no member. */
export async function findOrg(
  db: Db,
  orgId: string,
  userId: string,
): Promise<{ id: string; name: string; role: string | null } | undefined> {
  const [org] = await db.query<{ id: string; name: string; role: string | null }>(
    `SELECT o.id, o.name, m.role
     FROM orgs o LEFT JOIN members m ON m.org_id = o.id AND m.user_id = ? WHERE o.id = ?`,
    [userId, orgId],
  );
  return org;
}

export function listMembers(db: Db, orgId: string): Promise<MemberRow[]> {
  return db.query(
    `SELECT m.user_id AS userId, u.email, m.role FROM members m JOIN users u ON u.id = m.user_id
     WHERE m.org_id = ? ORDER BY m.joined_at, m.user_id`,
    [orgId],
  );
}

/** The first statement of every membership change: two changes of one organization conflict here. */
export function touchOrg(db: Db, orgId: string): Promise<number> {
  return db.run('UPDATE orgs SET revision = revision + 1 WHERE id = ?', [orgId]);
}

/** The one locking read of a membership change: the two persons it is about, and every owner. */
export function lockMembers(
  db: Db,
  orgId: string,
  actorId: string,
  targetId: string,
): Promise<{ userId: string; role: string }[]> {
  return db.query(
    `SELECT user_id AS userId, role FROM members
     WHERE org_id = ? AND (user_id IN (?, ?) OR role = 'owner')${db.forUpdate}`,
    [orgId, actorId, targetId],
  );
}

export function insertMember(
  db: Db,
  orgId: string,
  userId: string,
  role: string,
  now: number,
): Promise<number> {
  return db.run('INSERT INTO members (org_id, user_id, role, joined_at) VALUES (?, ?, ?, ?)', [
    orgId,
    userId,
    role,
    now,
  ]);
}

export function updateRole(db: Db, orgId: string, userId: string, role: string): Promise<number> {
  return db.run('UPDATE members SET role = ? WHERE org_id = ? AND user_id = ?', [role, orgId, userId]);
}

export function deleteMember(db: Db, orgId: string, userId: string): Promise<number> {
  return db.run('DELETE FROM members WHERE org_id = ? AND user_id = ?', [orgId, userId]);
}
