import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

/** rows for one statement: SQLite binds at most 32,766 values, and an event has 15 */
export const MAX_ROWS_AT_ONCE = 500;

/** Pauses between the batches: SQLite answers within the same turn, so nothing else would run otherwise. */
export async function* inBatches<T>(items: readonly T[], size = MAX_ROWS_AT_ONCE): AsyncGenerator<T[]> {
  for (let from = 0; from < items.length; from += size) {
    if (from > 0) await yieldToEventLoop();
    yield items.slice(from, from + size);
  }
}

export function places(size: number): string {
  return Array(size).fill('?').join(', ');
}

/** Pads to a power of two: engines and drivers keep prepared statements, so there should be few. */
export function padded<Key>(keys: readonly Key[], absentKey: Key): Key[] {
  const size = 2 ** Math.ceil(Math.log2(keys.length));
  return [...keys, ...Array<Key>(size - keys.length).fill(absentKey)];
}

/** A batch is small enough that other work on SQLite does not wait for it. */
export const BATCH = 100;

export interface Batch {
  /** fewer than BATCH when the table has no more */
  examined: number;
  deleted: number;
}

/** @param found the ids of at most BATCH rows */
export async function deleteFound<Id>(
  found: readonly Id[],
  remove: (ids: readonly Id[]) => Promise<void>,
): Promise<Batch> {
  if (found.length > 0) await remove(found);
  return { examined: found.length, deleted: found.length };
}

/**
 * SQL for the time of the database in epoch milliseconds. It decides where the clocks of two instances must not: they may
 * differ by minutes, and an instance reads its clock before its statement waits for a connection and for row locks.
 */
export const NOW_MS = 'CAST(ROUND(UNIX_TIMESTAMP(NOW(3)) * 1000) AS SIGNED)';

export interface HotStatement {
  name: string;
  sql: string;
  values: unknown[];
}

/** Prefixes that return a plan as rows: MySQL would answer with a tree; MariaDB reads its format as a comment. */
export const EXPLAIN = {
  sqlite: 'EXPLAIN QUERY PLAN',
  mysql: 'EXPLAIN /*!80000 FORMAT=TRADITIONAL */',
} as const;

const statements: HotStatement[] = [];

/**
 * @param values examples of the right number and type; an empty text stands for an id or a hash. By default every value is
 * one, except a number for each LIMIT and OFFSET.
 */
export function hotStatement(name: string, sql: string, values = exampleValues(sql)): string {
  statements.push({ name, sql, values });
  return sql;
}

function exampleValues(sql: string): unknown[] {
  return Array.from(sql.matchAll(/(LIMIT|OFFSET)?\s*\?/g), ([, isCount]) => (isCount ? 1 : ''));
}

export function hotStatements(): readonly HotStatement[] {
  return statements;
}
