import { randomUUIDv7 } from 'node:crypto';
import { firstEntityIdAt } from '../../src/identifiers/entity-id.js';
import type { Database } from './database.js';

const ROWS_AT_ONCE = 500;

type Values = Record<string, string | number | null>;

/** Values of the columns that a test does not name. */
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
  sessions: () => ({ auth_time: 1, created_at: 1, expires_at: 4_000_000_000_000 }),
};

/** Inserts rows by SQL, all with the same columns. `shared` are values of every row. */
export async function insertRows(
  { query }: Pick<Database, 'query'>,
  table: string,
  rows: readonly Values[],
  shared: Values = {},
): Promise<void> {
  const all = rows.map((row) => Object.assign({}, DEFAULTS[table]?.(row), shared, row));
  for (let from = 0; from < all.length; from += ROWS_AT_ONCE) {
    const some = all.slice(from, from + ROWS_AT_ONCE);
    const columns = Object.keys(some[0]!);
    const places = `(${columns.map(() => '?').join()})`;
    await query(
      `INSERT INTO ${table} (${columns.join()}) VALUES ${some.map(() => places).join()}`,
      some.flatMap((row) => columns.map((column) => row[column]!)),
    );
  }
}

export function insertRow(db: Pick<Database, 'query'>, table: string, row: Values): Promise<void> {
  return insertRows(db, table, [row]);
}

/** An id as if it had been made at that time. */
export function idAt(time: number): string {
  return firstEntityIdAt(time).slice(0, 14) + randomUUIDv7().slice(14);
}
