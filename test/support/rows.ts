import { randomBytes, randomUUIDv7 } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { firstEntityIdAt, newEntityId } from '../../src/identifiers/entity-id.js';
import { times } from './at-once.js';
import type { Database } from './database.js';
import { engine } from './engine.js';
import type { Account, Org } from './personas.js';
import type { Service } from './service.js';
import { sessionIdOf } from './signing-keys.js';

const ROWS_AT_ONCE = 500;

interface Queryable {
  query(sql: string, values?: (string | number | null)[]): Promise<unknown>;
}

type Values = Record<string, string | number | null>;

const DEFAULTS: Record<string, (row: Values) => Values> = {
  users: ({ id }) => ({ email: `${id}@example.com`, password_hash: 'none', created_at: 1 }),
  orgs: () => ({ name: 'Org', revision: 1, created_at: 1 }),
  members: ({ user_id: id }) => ({ email: `${id}@example.com`, role: 'member', joined_at: 1 }),
  invitations: ({ id }) => ({
    org_id: id!,
    email: `${id}@example.com`,
    role: 'member',
    status: 'pending',
    pending: 1,
    code_number: 1,
    code_shown: 0,
    invited_by: id!,
    created_at: 1,
    expires_at: 4_000_000_000_000,
  }),
  api_keys: ({ id }) => ({
    hash: String(id),
    user_id: id!,
    audience: 'billing',
    role: 'member',
    name: 'nightly export',
    created_at: 1,
    expires_at: 4_000_000_000_000,
  }),
  providers: ({ id }) => ({
    name: String(id),
    title: 'Acme',
    issuer: 'https://login.acme.example',
    client_id: 'accounts',
    secret: 'none',
    settings: '{}',
    created_at: 1,
  }),
  identities: ({ user_id: subject }) => ({ subject: subject!, created_at: 1 }),
  instances: () => ({
    host: 'app',
    pid: 1,
    key_set: 'k',
    signing_key: 'k',
    counts_alone: 0,
    started_at: 1,
    seen_at: 1,
  }),
  sessions: () => ({ auth_time: 1, created_at: 1, expires_at: 4_000_000_000_000 }),
};

/** Inserts rows by SQL, all with the same columns. `shared` are values of every row. */
export async function insertRows(
  db: Queryable,
  table: string,
  rows: readonly Values[],
  shared: Values = {},
): Promise<void> {
  const all = rows.map((row) => Object.assign({}, DEFAULTS[table]?.(row), shared, row));
  for (let from = 0; from < all.length; from += ROWS_AT_ONCE) {
    const some = all.slice(from, from + ROWS_AT_ONCE);
    const columns = Object.keys(some[0]!);
    const values = some.map((row) => columns.map((column) => row[column]!));
    await insertColumns(db, table, columns.join(), values);
  }
}

/** Inserts rows in one statement, each with values in the order of the columns. */
export function insertColumns(
  db: Queryable,
  table: string,
  columns: string,
  rows: (string | number | null)[][],
): Promise<unknown> {
  const places = rows.map((row) => `(${row.map(() => '?').join()})`).join();
  return db.query(`INSERT INTO ${table} (${columns}) VALUES ${places}`, rows.flat());
}

const TABLES = {
  sqlite: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
  mariadb: 'SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()',
};

/** Written in the background. */
const IN_BACKGROUND = new Set(['feed', 'instances', 'login_traces']);

/** Every row of every table, in an order of their own, but for what is written in the background. */
export async function allRows(db: Database): Promise<Record<string, string[]>> {
  const tables: Record<string, string[]> = {};
  for (const { name } of await db.query(TABLES[engine])) {
    const rows = IN_BACKGROUND.has(String(name)) ? [] : await db.query(`SELECT * FROM ${String(name)}`);
    const texts = rows.map((row) => JSON.stringify(name === 'events' ? { ...row, pending: null } : row));
    tables[String(name)] = texts.toSorted();
  }
  return tables;
}

export function insertRow(db: Queryable, table: string, row: Values): Promise<void> {
  return insertRows(db, table, [row]);
}

export function idAt(time: number): string {
  return firstEntityIdAt(time).slice(0, 14) + randomUUIDv7().slice(14);
}

/** Ids that sort by their number. */
export function sessionId(number: number): string {
  return `01a1fbf4-7ea2-724e-b0f0-${String(number).padStart(12, '0')}`;
}

export interface SessionRow {
  id: string;
  expiresAt: number;
  /** of a session that a code opened */
  family?: { loginId: string; branchId: string };
}

export async function insertSessions(dataSource: DataSource, sessions: SessionRow[]): Promise<void> {
  const user = sessionId(0);
  const [known] = await dataSource.query<unknown[]>('SELECT id FROM users WHERE id = ?', [user]);
  if (!known) await insertRow(dataSource, 'users', { id: user, email: 'ada@example.com' });
  const rows = sessions.map(({ id, expiresAt, family }) => ({
    id,
    expires_at: expiresAt,
    login_id: family?.loginId ?? null,
    branch_id: family?.branchId ?? null,
    code_hash: family ? id : null,
  }));
  await insertRows(dataSource, 'sessions', rows, { user_id: user, auth_time: 0, created_at: 0 });
}

/**
 * Live sessions that codes of this login opened, in one branch or each in its own. By their ids they are older than any
 * other session.
 */
export async function addDerivedSessions(
  db: Queryable,
  login: Account,
  count: number,
  branchId?: string,
): Promise<string[]> {
  const group = randomBytes(2).toString('hex');
  const ids = times(count, (number) => sessionId(number).replace('b0f0', group));
  const now = Date.now();
  const rows = ids.map((id) => ({ id, branch_id: branchId ?? id, code_hash: id }));
  const lifetime = { auth_time: now, created_at: now, expires_at: now + 3_600_000 };
  await insertRows(db, 'sessions', rows, { ...lifetime, user_id: login.id, login_id: sessionIdOf(login) });
  return ids;
}

/** Long enough that a list of 20,000 does not fit into the buffers of a connection. */
const LONG_DOMAIN = ['x', 'y', 'z'].map((letter) => letter.repeat(60)).join('.');

export function crowdEmail(number: number): string {
  return `u${number}@${LONG_DOMAIN}.example.com`;
}

export async function addCrowd(db: Queryable, org: Org, size: number): Promise<void> {
  const crowd = times(size, (number) => ({ id: sessionId(number), email: crowdEmail(number) }));
  await insertRows(db, 'users', crowd);
  const members = crowd.map(({ id, email }, number) => ({ user_id: id, email, joined_at: number }));
  await insertRows(db, 'members', members, { org_id: org.id });
}

export async function addOrgs(
  db: Queryable,
  { id, email }: Pick<Account, 'id' | 'email'>,
  count: number,
  nameOf = (number: number): string => `Organization ${number}`,
): Promise<void> {
  const orgs = times(count, (number) => ({ id: newEntityId(), name: nameOf(number) }));
  await insertRows(db, 'orgs', orgs);
  const members = orgs.map((org, number) => ({ org_id: org.id, joined_at: Date.now() + number }));
  await insertRows(db, 'members', members, { user_id: id, email, role: 'owner' });
}

/** As if the user had done something very often, and long ago. Returns the oldest event, which an export shows last. */
export async function addLongHistory({ db }: Pick<Service, 'db'>, userId: string): Promise<string> {
  // More than the buffers of a connection hold.
  const ids = times(8000, (number) => sessionId(number).replace('b0f0', userId.slice(-4)));
  const data = JSON.stringify({ text: 'x'.repeat(900) });
  const event = { type: 'session.started', at: 1, actor_type: 'system', user_id: userId, data };
  await insertRows(
    db,
    'events',
    ids.map((id) => ({ id })),
    event,
  );
  return ids[0]!;
}
