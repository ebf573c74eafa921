import type { Role } from './reference-model.js';
import { asString } from '../../support/service-client.js';
import type { Storage } from './deployment.js';

/** One change of a membership, as it took effect. */
export interface MembershipChange {
  orgId: string;
  /** of the organization: the order of its changes */
  revision: number;
  userId: string;
  /** undefined: the member was removed */
  role: Role | undefined;
  /** milliseconds since 1970, of the database's clock */
  at: number;
}

const SQLITE_NOW = "unixepoch('subsec') * 1000";
const MARIADB_NOW = 'UNIX_TIMESTAMP(SYSDATE(3)) * 1000';

/** Has the database itself write down every change of a membership, in the transaction that makes it. */
export async function logMemberships(storage: Storage): Promise<void> {
  await storage.query(
    `CREATE TABLE membership_log (org_id CHAR(36), revision INT, user_id CHAR(36), role VARCHAR(10), at DOUBLE,
       PRIMARY KEY (org_id, revision, user_id))`,
  );
  const now = storage.isServer ? MARIADB_NOW : SQLITE_NOW;
  const onEach = { INSERT: ['NEW', 'NEW.role'], UPDATE: ['NEW', 'NEW.role'], DELETE: ['OLD', 'NULL'] };
  for (const [event, [row, role]] of Object.entries(onEach)) {
    const log = `INSERT INTO membership_log (org_id, revision, user_id, role, at)
      SELECT ${row}.org_id, revision, ${row}.user_id, ${role}, ${now} FROM orgs WHERE id = ${row}.org_id;`;
    await storage.query(
      `CREATE TRIGGER log_${event} AFTER ${event} ON members FOR EACH ROW BEGIN ${log} END`,
    );
  }
}

/** In the order in which they took effect in each organization. */
export async function readMembershipLog(storage: Storage): Promise<MembershipChange[]> {
  const rows = await storage.query('SELECT * FROM membership_log ORDER BY org_id, revision');
  return rows.map((row) => ({
    orgId: asString(row['org_id']),
    revision: Number(row['revision']),
    userId: asString(row['user_id']),
    role: (row['role'] ?? undefined) as Role | undefined,
    at: Number(row['at']),
  }));
}
