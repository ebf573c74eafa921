import { type Check, EXAMPLES, type Inspection } from './check.js';
import { EXPLAIN, statementsByIndex } from '../../database/statement-list.js';
import { isReadOnly } from '../../database/transactions/database-errors.js';
import { isSchemaUpToDate } from '../../database/migrate.js';

export const SERVER_CHECKS: Check[] = [
  {
    claim: 'every acknowledged change survives a crash of the database server',
    remedy:
      'Set innodb_flush_log_at_trx_commit=1 and, with a binary log, sync_binlog=1, unless you accept that loss for speed.',
    async findFaults({ env: { database } }) {
      if (database.engine === 'sqlite') return [];
      const { findUnsafeCommits } = await import('../../database/mysql/mysql-server.js');
      const unsafe = await findUnsafeCommits(database);
      return unsafe.map(({ host, settings, cost }) => `${host} has ${settings.join(', ')}: ${cost}`);
    },
  },
  {
    claim: 'the database accepts changes',
    remedy:
      'If it is the primary, run SET GLOBAL read_only = 0 there. If not, point DATABASE_URL to the primary.',
    /** Asks by a statement that changes nothing, since some users may write to a read-only server. */
    async findFaults({ env: { database }, runner }) {
      if (database.engine === 'sqlite') return [];
      const refusal: unknown = await runner
        .query('DELETE FROM instances WHERE 1 = 0')
        .catch((error: unknown) => error);
      return isReadOnly(refusal) ? [(refusal as Error).message] : [];
    },
  },
];

export const SCHEMA_CHECKS: Check[] = [
  {
    claim: 'every migration of this version has run',
    remedy: 'Run accounts migrate, or start Accounts once with MIGRATIONS=run.',
    async findFaults({ dataSource }) {
      return (await isSchemaUpToDate(dataSource)) ? [] : ['migrations are pending'];
    },
  },
  {
    claim: 'the tables have the schema of the migrations',
    remedy: 'The schema was changed by hand. The statements above restore it.',
    async findFaults({ dataSource }) {
      const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
      return upQueries.slice(0, EXAMPLES).map(({ query }) => query);
    },
  },
];

const LARGE_TABLE_ROWS = 1000;

/** MariaDB explains no other statements in a read-only transaction. */
const LOCKS_NOTHING = /^SELECT (?!.* FOR UPDATE)/;

export const INDEX_CHECK: Check = {
  claim: 'hot queries use their indexes',
  remedy: 'Run ANALYZE TABLE (MySQL, MariaDB) or ANALYZE (SQLite) on the tables named.',
  async findFaults(inspection) {
    const faults: string[] = [];
    const listed = statementsByIndex(inspection.env.database.engine);
    for (const { sql, values } of listed.filter((one) => LOCKS_NOTHING.test(one.sql))) {
      for (const alias of await readWhole(inspection, sql, values))
        faults.push(`reads all of ${tableOf(sql, alias)}: ${sql}`);
    }
    return faults;
  },
};

interface MysqlPlanRow {
  table: string | null;
  type: string | null;
  rows: number | null;
}

function tableOf(sql: string, alias: string): string {
  return new RegExp(`(?:FROM|JOIN) ["\`]?(\\w+)["\`]? ["\`]?${alias}\\b`).exec(sql)?.[1] ?? alias;
}

async function readWhole(
  { dataSource, runner }: Inspection,
  sql: string,
  values: unknown[],
): Promise<string[]> {
  if (dataSource.options.type === 'better-sqlite3') {
    const plan = (await runner.query(`${EXPLAIN.sqlite} ${sql}`, values)) as { detail: string }[];
    const found = (pattern: RegExp): string[] =>
      plan.flatMap(({ detail }) => pattern.exec(detail)?.[1] ?? []);
    const subqueries = new Set(found(/^(?:MATERIALIZE|CO-ROUTINE) (\S+)/));
    const scanned = found(/^SCAN (?!CONSTANT|.* USING (?:COVERING )?INDEX)(\S+)/);
    return scanned.filter((name) => !subqueries.has(name));
  }
  const plan = (await runner.query(`${EXPLAIN.mysql} ${sql}`, values)) as MysqlPlanRow[];
  return plan
    .filter(
      ({ table, type, rows }) => type === 'ALL' && !table?.startsWith('<') && Number(rows) > LARGE_TABLE_ROWS,
    )
    .map(({ table }) => String(table));
}
