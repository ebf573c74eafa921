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

export interface OpenedRow {
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

export function insertSession(db: Db, session: SessionRow, generation = 0): Promise<number> {
  return db.run(
    `INSERT INTO sessions (id, user_id, auth_time, created_at, expires_at, refresh_generation)
     VALUES (?, ?, ?, ?, ?, ?)`,
    [session.id, session.userId, session.authTime, session.createdAt, session.expiresAt, generation],
  );
}

/** The next generation of a session that has not ended. */
export function rotateSession(
  db: Db,
  session: { id: string; generation: number; now: number; expiresAt: number },
): Promise<number> {
  return db.run(
    `UPDATE sessions SET refresh_generation = refresh_generation + 1, rotated_at = ?, expires_at = ?
     WHERE id = ? AND refresh_generation = ? AND revoked_at IS NULL AND expires_at > ?`,
    [session.now, session.expiresAt, session.id, session.generation, session.now],
  );
}

export async function findSession(db: Db, id: string): Promise<OpenedRow | undefined> {
  const [session] = await db.query<OpenedRow>(
    'SELECT user_id AS userId, auth_time AS authTime FROM sessions WHERE id = ?',
    [id],
  );
  return session;
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

/**
 * Inserts one row for exactly one of any number of simultaneous callers; none for a code that expired or whose
 * session, or the session that it came from, was revoked.
 *
 * @throws DuplicateError when the code was used before
 */
export async function exchangeCode(
  db: Db,
  codeHash: string,
  granted: Pick<SessionRow, 'id' | 'createdAt' | 'expiresAt'>,
): Promise<OpenedRow | undefined> {
  const [opened] = await db.query<OpenedRow>(
    `INSERT INTO sessions (id, user_id, auth_time, created_at, expires_at, login_id, branch_id, code_hash)
     SELECT ?, s.user_id, s.auth_time, ?, ?, COALESCE(s.login_id, s.id), COALESCE(s.branch_id, ?), c.hash
     FROM authorization_codes c JOIN sessions s ON s.id = c.session_id
     LEFT JOIN sessions l ON l.id = s.login_id LEFT JOIN sessions h ON h.id = s.branch_id
     WHERE c.hash = ? AND c.expires_at > ? AND s.revoked_at IS NULL
       AND (s.login_id IS NULL OR (l.revoked_at IS NULL AND h.revoked_at IS NULL))
     RETURNING user_id AS userId, auth_time AS authTime`,
    [granted.id, granted.createdAt, granted.expiresAt, granted.id, codeHash, granted.createdAt],
  );
  return opened;
}

const AT_ORG_LIMIT = '(SELECT x.org_id FROM members x WHERE x.user_id = u.id LIMIT 1 OFFSET 4999)';

export function insertOrg(db: Db, org: { id: string; name: string }, now: number): Promise<number> {
  return db.run('INSERT INTO orgs (id, name, revision, created_at) VALUES (?, ?, 0, ?)', [
    org.id,
    org.name,
    now,
  ]);
}

/** Inserts nothing where the creator is at the limit, or gone. */
export function insertOwner(db: Db, orgId: string, userId: string, now: number): Promise<number> {
  return db.run(
    `INSERT INTO members (org_id, user_id, email, role, joined_at)
     SELECT ?, u.id, u.email, 'owner', ? FROM users u WHERE u.id = ? AND ${AT_ORG_LIMIT} IS NULL${db.forUpdate}`,
    [orgId, now, userId],
  );
}

/** The organization and the caller's role in it, null for one who is no member. */
export async function findOrg(
  db: Db,
  orgId: string,
  userId: string,
): Promise<{ role: string | null } | undefined> {
  const [org] = await db.query<{ role: string | null }>(
    `SELECT m.role FROM orgs o LEFT JOIN members m ON m.org_id = o.id AND m.user_id = ? WHERE o.id = ?`,
    [userId, orgId],
  );
  return org;
}

/** One row for each member, for a caller who is one; one row without a member for another; none without an organization. */
export function listMembers<Name extends object>(
  db: Db,
  orgId: string,
  callerId: string,
  columns: '' | 'o.name, ',
): Promise<(Name & { callerRole: string | null } & MemberRow)[]> {
  return db.query(
    `SELECT ${columns}a.role AS callerRole, m.user_id AS userId, m.email, m.role
     FROM orgs o LEFT JOIN members a ON a.org_id = o.id AND a.user_id = ?
     LEFT JOIN members m ON m.org_id = a.org_id
     WHERE o.id = ? ORDER BY m.joined_at, m.user_id`,
    [callerId, orgId],
  );
}

const BY_ADMIN =
  "EXISTS (SELECT 1 FROM members a WHERE a.org_id = ? AND a.user_id = ? AND a.role <> 'member')";

/** Inserts nothing where the caller may not add, nobody has the e-mail, or the user is at the limit. */
export async function insertMember(
  db: Db,
  member: { orgId: string; email: string; role: string; callerId: string },
  now: number,
): Promise<string | undefined> {
  const [inserted] = await db.query<{ userId: string }>(
    `INSERT INTO members (org_id, user_id, email, role, joined_at)
     SELECT ?, u.id, u.email, ?, ? FROM users u
     WHERE u.email = ? AND ${AT_ORG_LIMIT} IS NULL AND ${BY_ADMIN}${db.forUpdate}
     RETURNING user_id AS userId`,
    [member.orgId, member.role, now, member.email, member.orgId, member.callerId],
  );
  return inserted?.userId;
}

export async function findUserAtLimit(
  db: Db,
  email: string,
): Promise<{ id: string; atLimit: string | null } | undefined> {
  const [user] = await db.query<{ id: string; atLimit: string | null }>(
    `SELECT u.id, ${AT_ORG_LIMIT} AS atLimit FROM users u WHERE u.email = ?`,
    [email],
  );
  return user;
}

const BY_WHO_MAY = `EXISTS (SELECT 1 FROM members a WHERE a.org_id = members.org_id AND a.user_id = ?
  AND (a.role = 'owner' OR (a.role = 'admin' AND members.role <> 'owner' AND ? <> 'owner')))`;
const ANOTHER_OWNER = `EXISTS (SELECT 1 FROM members w WHERE w.org_id = members.org_id AND w.role = 'owner'
  AND w.user_id <> members.user_id)`;

/** Changes nothing where the caller may not, there is no such member, or an owner would be missing. */
export function updateRole(
  db: Db,
  orgId: string,
  callerId: string,
  userId: string,
  role: string,
): Promise<number> {
  return db.run(
    `UPDATE members SET role = ? WHERE org_id = ? AND user_id = ? AND ${BY_WHO_MAY}
       AND (role <> 'owner' OR ? = 'owner' OR ${ANOTHER_OWNER})`,
    [role, orgId, userId, callerId, role, role],
  );
}

/** Removes nobody where the caller may not, there is no such member, or an owner would be missing. */
export function deleteMember(db: Db, orgId: string, callerId: string, userId: string): Promise<number> {
  return db.run(
    `DELETE FROM members WHERE org_id = ? AND user_id = ? AND ${BY_WHO_MAY}
       AND (role <> 'owner' OR ${ANOTHER_OWNER})`,
    [orgId, userId, callerId, ''],
  );
}

/** Why nothing was changed: the roles of the two persons, and of every owner. */
export function findRoles(
  db: Db,
  orgId: string,
  callerId: string,
  targetId: string,
): Promise<{ userId: string; role: string }[]> {
  return db.query(
    `SELECT user_id AS userId, role FROM members WHERE org_id = ? AND (user_id IN (?, ?) OR role = 'owner')`,
    [orgId, callerId, targetId],
  );
}
