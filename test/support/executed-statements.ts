import { resolve } from 'node:path';
import type { DataSource } from 'typeorm';
import { noteSent } from '../../tooling/statements.js';

export interface Executed {
  sql: string;
  verb: string;
  table: string | undefined;
  /** read, or written */
  rows: number;
  /** how often the event loop had turned before */
  turn: number;
}

/** Notes every statement from now on, and how often everything else got its turn meanwhile. */
export function recordStatements(dataSource: DataSource): Executed[] {
  const executed: Executed[] = [];
  let turn = 0;
  const count = (): void => {
    turn += 1;
    setImmediate(count).unref();
  };
  count();
  aroundStatements(dataSource, async (sql, send) => {
    const before = turn;
    const result = await send();
    const rows = Array.isArray(result) ? result.length : ((result as { affected?: number }).affected ?? 0);
    const [verb = '', ...words] = sql.trim().split(/\s+/);
    const table = words.find((word) => !/^(?:INTO|FROM)$/.test(word))?.replaceAll(/[`"]/g, '');
    executed.push({ sql, verb, table, rows, turn: before });
    return result;
  });
  return executed;
}

/** The statements of a job that runs in this process belong to the list, and those of the tests themselves do not. */
export function noteStatements(dataSource: DataSource): DataSource {
  const engine = dataSource.options.type === 'better-sqlite3' ? 'sqlite' : 'mysql';
  aroundStatements(dataSource, (sql, send) => {
    if (isCalledBySource()) noteSent(engine, sql);
    return send();
  });
  return dataSource;
}

function aroundStatements(
  dataSource: DataSource,
  around: (sql: string, send: () => Promise<unknown>) => Promise<unknown>,
): void {
  const create = dataSource.createQueryRunner.bind(dataSource);
  dataSource.createQueryRunner = (mode) => {
    const runner = create(mode);
    const query = runner.query.bind(runner) as (...parameters: unknown[]) => Promise<unknown>;
    runner.query = (sql: string, ...rest: unknown[]) =>
      around(sql, () => query(sql, ...rest)) as Promise<never>;
    return runner;
  };
}

const CALLER = new RegExp(
  `${resolve(import.meta.dirname, '../..')}/(src/(?!database/)|test/(?!support/executed))`,
);

function isCalledBySource(): boolean {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 50;
  const { stack } = new Error();
  Error.stackTraceLimit = stackTraceLimit;
  return CALLER.exec(stack!)?.[1]?.startsWith('src') ?? false;
}
