import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXPLAIN, statementsByIndex } from '../../src/database/statement-list.js';
import type { Row } from '../support/database.js';
import { engine } from '../support/engine.js';
import { type Service, startOwnService } from '../support/service.js';
import { sessionId } from '../support/rows.js';
import { readList } from '../../tooling/statements.js';

const USERS = 20_000;
const ROWS_AT_ONCE = 2000;
const TABLES = `users sessions authorization_codes orgs members mails email_codes invitations events feed
  idempotency_keys known_places login_traces operator_emails services service_secrets service_calls`.split(
  /\s+/,
);

const family = engine === 'sqlite' ? 'sqlite' : 'mysql';
const explain = EXPLAIN[family];
const statements = statementsByIndex(family);

const SLOW = {
  sqlite: [/SCAN (?!CONSTANT|\w+ USING (?:COVERING )?INDEX)/, /TEMP B-TREE FOR ORDER BY/],
  mariadb: [/"type": "(?:ALL|index)"/, /filesort/],
};

/** Enough rows that an engine scans a table only if it has to. */
describe('the plan of', () => {
  let service: Service;

  beforeAll(async () => {
    service = await startOwnService();
    for (let from = 0; from < USERS; from += ROWS_AT_ONCE) await fill(from);
    for (const table of TABLES) {
      await service.db.query(engine === 'sqlite' ? `ANALYZE ${table}` : `ANALYZE TABLE ${table}`);
    }
  });

  afterAll(() => service.stop());

  async function fill(from: number): Promise<void> {
    const numbers = Array.from({ length: ROWS_AT_ONCE }, (_, index) => from + index);
    const id = (n: number): string => `'${sessionId(n)}'`;
    /** @param row what stands between the brackets after VALUES */
    const insert = (table: string, columns: string, row: (n: number) => string) =>
      service.db.query(
        `INSERT INTO ${table} (${columns}) VALUES ${numbers.map((n) => `(${row(n)})`).join()}`,
      );
    const rarely = (n: number, text: string): string => (n % 1000 === 0 ? `'${text}'` : 'NULL');
    const one = <T>(n: number, ...of: T[]): T => of[n % of.length]!;
    await insert(
      'users',
      'id, email, password_hash, created_at, disabled_email',
      (n) => `${id(n)}, 'u${n}@example.com', 'none', ${n}, ${rarely(n, `u${n}@example.com`)}`,
    );
    await insert(
      'sessions',
      'id, user_id, auth_time, created_at, expires_at, login_id, branch_id, code_hash',
      (n) =>
        `${id(n)}, ${id(n)}, ${n}, ${n}, ${n}, ${id(Math.floor(n / 10))}, ${id(Math.floor(n / 5))}, ${id(n)}`,
    );
    const ofCodes = 'hash, session_id, created_at, expires_at';
    await insert('authorization_codes', ofCodes, (n) => `${id(n)}, ${id(n)}, ${n}, ${n}`);
    await insert(
      'mails',
      'id, kind, recipient, org_id, sender_id, state, created_at, next_attempt_at, priority, turn_at',
      (n) =>
        `${id(n)}, '${one(n, 'password_changed', 'invitation')}', 'u${n}@example.com', ${id(n % 100)}, ${id(n % 70)},
          '${one(n, 'sent', 'failed', 'waiting')}', ${n}, ${n % 5 === 0 ? 0 : n}, ${n % 3}, ${n}`,
    );
    await insert(
      'email_codes',
      'id, purpose, subject, email, purge_at',
      (n) => `${id(n)}, 'password_reset', 'u${n}@example.com', 'u${n}@example.com', ${n}`,
    );
    await insert(
      'invitations',
      'id, org_id, email, role, status, pending, code_number, code_shown, invited_by, created_at, expires_at',
      (n) =>
        `${id(n)}, ${id(n % 50)}, 'u${n}@example.com', 'member', '${one(n, 'pending', 'accepted', 'expired')}',
          ${one(n, '1', 'NULL', 'NULL')}, 1, 0, ${id(n % 70)}, ${n}, ${n}`,
    );
    // Before the events, or a round of the service would give them places of its own, and after the first place, which has none.
    await insert('feed', 'seq, event_id', (n) => `${n + 2}, ${id(n)}`);
    await insert(
      'events',
      'id, type, at, actor_type, actor_id, actor_email, org_id, org_revision, user_id, data, pending',
      (n) =>
        `${id(n)}, 'member.added', ${n}, 'user', ${id(n % 500)}, ${rarely(n, `u${n}@example.com`)}, ${id(n % 100)}, ${n}, ${id(n % 1000)}, '{}', ${n % 200 === 0 ? 1 : 'NULL'}`,
    );
    await insert(
      'idempotency_keys',
      'user_id, key_hash, fingerprint, status, body, expires_at',
      (n) => `${id(n % 1000)}, ${id(n)}, ${id(n)}, 200, '{}', ${n}`,
    );
    await insert('login_traces', 'user_id, ip_expires_at', (n) => `${id(n)}, ${n % 3 === 0 ? n : 'NULL'}`);
    await insert(
      'known_places',
      'user_id, network, agent, first_seen_at, last_seen_at',
      (n) => `${id(n)}, '10.0.0.0/24', 'Firefox', ${n}, ${n}`,
    );
    await insert('operator_emails', 'email, user_id', (n) => `'u${n}@example.com', ${id(n)}`);
    await insert('services', 'name, allow, created_at', (n) => `'s${n}', 'introspect', ${n}`);
    await insert('service_calls', 'caller, callee, allowed_at', (n) => `'s${n}', 's${n + 1}', ${n}`);
    const ofSecrets = 'id, service, hash, created_at';
    await insert('service_secrets', ofSecrets, (n) => `${id(n)}, 's${n}', ${id(n)}, ${n}`);
    await insert(
      'orgs',
      'id, name, revision, created_at, deleted_name',
      (n) => `${id(n)}, 'Org ${n}', 1, ${n}, ${rarely(n, `Org ${n}`)}`,
    );
    // One large organization, and one of their own for every user.
    const member = (n: number, org: number, role: string) =>
      `${id(org)}, ${id(n)}, 'u${n}@example.com', '${role}', ${n}`;
    const columns = 'org_id, user_id, email, role, joined_at';
    await insert('members', columns, (n) => member(n, 0, n % 100 ? 'member' : 'owner'));
    if (from > 0) await insert('members', columns, (n) => member(n, n, 'owner'));
  }

  for (const { sql, values } of statements) {
    it(`${sql} reads by an index, in its order`, async () => {
      const known = values.map((value) => (value === '' ? sessionId(0) : value));
      const plan = await service.db.query(`${explain} ${sql}`, known as string[]);

      const text = JSON.stringify(
        plan.filter((row) => !isGathered(row, sql)),
        null,
        1,
      );
      for (const sign of SLOW[engine]) expect(text).not.toMatch(sign);
    });
  }

  async function planOf(part: string): Promise<string> {
    const sql = [...readList(family).keys()].find((one) => one.includes(part))!;
    const values = Array.from(sql.matchAll(/\?/g), () => sessionId(0));
    return JSON.stringify(await service.db.query(`${explain} ${sql}`, values));
  }

  it('what decides about a change finds another owner by the index of roles', async () => {
    const plan = await planOf('AS hasOtherOwner');
    expect(plan).toContain('members_org_id_role_email_idx');
  });

  // Without statistics, as on most installations of SQLite: by the index of times, invitations would be every user's.
  it.runIf(engine === 'sqlite').each([
    [
      'the invitations that a code may be of takes the index of e-mails',
      'FROM invitations i WHERE i.email = ? AND i.pending = 1 AND COALESCE',
      'invitations',
      'invitations_email_idx (email=? AND pending=?)',
    ],
    [
      'a search of members of a role takes the index of roles',
      'm.email, m.role FROM members m WHERE m.org_id = ? AND m.role = ?',
      'members',
      'members_org_id_role_email_idx (org_id=? AND role=? AND email>? AND email<?)',
    ],
  ])('%s', async (_what, statement, table, index) => {
    await service.db.query(`DELETE FROM sqlite_stat1 WHERE tbl = '${table}'`);
    await service.db.query('ANALYZE sqlite_schema');
    expect(await planOf(statement)).toContain(index);
  });
});

/** The rows that a UNION or a subquery gathered are not a table. */
function isGathered({ table, detail }: Row, sql: string): boolean {
  const name = table ?? /^SCAN (\S+)(?: LEFT-JOIN)?$/.exec(String(detail))?.[1];
  return /^[<(]/.test(String(name)) || new RegExp(`\\) [\`"]?${name}\\b`).test(sql);
}
