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
