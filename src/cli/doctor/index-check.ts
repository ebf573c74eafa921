import { EXPIRED_CODES } from '../../auth/cleanup/expired-codes.js';
import { EXPIRED_SESSIONS, findReferred } from '../../auth/cleanup/expired-sessions.js';
import { EXCHANGE, findIssuers, findOpened } from '../../auth/codes/codes.service.js';
import { findCallers } from '../../auth/sessions/session-checks.js';
import { findDescendants } from '../../auth/sessions/session-revocation.js';
import { FIND_ROLES, FIND_TWO_OWNERS, findRoleAndUserSql } from '../../memberships/membership.js';
import {
  LIST_MEMBERS,
  LIST_MEMBERS_AFTER,
  LIST_MEMBERS_FOR_READER,
} from '../../members/member-list.service.js';
import { findMemberships } from '../../memberships/memberships.service.js';
import { fromCreator, listOrgsOfUsers } from '../../orgs/orgs.service.js';
import { FIND_CREDENTIALS } from '../../users/users.service.js';
import type { Check, Inspection } from './check.js';

/** The queries that requests wait for, and values that have their shape. */
export const HOT_QUERIES: Record<string, { sql: string; values: unknown[] }> = {
  'the session check': { sql: findCallers(2), values: ['', ''] },
  'the look-up of a code': { sql: findIssuers(2), values: ['', ''] },
  'the exchange of a code': { sql: EXCHANGE, values: ['', 0, 0, '', 0] },
  'the look-up of what a code opened': { sql: findOpened(2), values: ['', ''] },
  'the search for what was derived from a session': { sql: findDescendants(1), values: ['', ''] },
  'the search for what was derived from several': { sql: findDescendants(2), values: ['', '', ''] },
  'the look-up of a login': { sql: FIND_CREDENTIALS, values: [''] },
  'the role check': { sql: findMemberships(2), values: ['', '', '', ''] },
  'the member list': { sql: LIST_MEMBERS, values: [''] },
  'a page of the member list': { sql: LIST_MEMBERS_AFTER, values: ['', 0, 0, '', 21] },
  'a page of a member list that is streamed': {
    sql: LIST_MEMBERS_FOR_READER,
    values: ['', '', 0, 0, '', 1001, ''],
  },
  'the organizations of a user': { sql: listOrgsOfUsers(2), values: ['', ''] },
  'the roles that decide about a change': { sql: FIND_ROLES, values: ['', '', ''] },
  'the role and the user of an addition': { sql: findRoleAndUserSql(5000), values: ['', '', ''] },
  'the limit of who creates an organization': { sql: `SELECT u.id ${fromCreator(5000)}`, values: [''] },
  'the owners that must stay': { sql: FIND_TWO_OWNERS, values: [''] },
  'the clean-up of codes': { sql: EXPIRED_CODES, values: [0] },
  'the clean-up of sessions': { sql: EXPIRED_SESSIONS, values: [0, 0, ''] },
  'the search for what refers to a session': { sql: findReferred(2), values: ['', '', '', ''] },
};

/** Below this many rows an engine may rightly prefer to read a table whole. */
const LARGE_TABLE_ROWS = 1000;

export const INDEX_CHECK: Check = {
  claim: 'hot queries use their indexes',
  remedy: 'Run ANALYZE TABLE (MySQL, MariaDB) or ANALYZE (SQLite) on the tables named.',
  async findFaults(inspection) {
    const faults: string[] = [];
    for (const [name, { sql, values }] of Object.entries(HOT_QUERIES)) {
      for (const alias of await readWhole(inspection, sql, values))
        faults.push(`${name} reads all of ${tableOf(sql, alias)}`);
    }
    return faults;
  },
};

interface MysqlPlanRow {
  table: string | null;
  type: string | null;
  rows: number | null;
}

/** Plans name a table as its query does. */
function tableOf(sql: string, alias: string): string {
  return new RegExp(`(?:FROM|JOIN) (\\w+) ${alias}\\b`).exec(sql)?.[1] ?? alias;
}

async function readWhole(
  { dataSource, runner }: Inspection,
  sql: string,
  values: unknown[],
): Promise<string[]> {
  if (dataSource.options.type === 'better-sqlite3') {
    const plan = (await runner.query(`EXPLAIN QUERY PLAN ${sql}`, values)) as { detail: string }[];
    const found = (pattern: RegExp): string[] =>
      plan.flatMap(({ detail }) => pattern.exec(detail)?.[1] ?? []);
    // What a subquery gave is not a table.
    const subqueries = new Set(found(/^(?:MATERIALIZE|CO-ROUTINE) (\S+)/));
    const scanned = found(/^SCAN (?!CONSTANT|.* USING (?:COVERING )?INDEX)(\S+)/);
    return scanned.filter((name) => !subqueries.has(name));
  }
  const plan = (await runner.query(`EXPLAIN ${sql}`, values)) as MysqlPlanRow[];
  return plan
    .filter(
      ({ table, type, rows }) => type === 'ALL' && !table?.startsWith('<') && Number(rows) > LARGE_TABLE_ROWS,
    )
    .map(({ table }) => String(table));
}
