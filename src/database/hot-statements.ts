export interface HotStatement {
  name: string;
  sql: string;
  /** examples of the right number and type; an empty text stands for an id or a hash */
  values: unknown[];
}

/** Prefixes that return a plan as rows: MySQL would answer with a tree; MariaDB reads its format as a comment. */
export const EXPLAIN = {
  sqlite: 'EXPLAIN QUERY PLAN',
  mysql: 'EXPLAIN /*!80000 FORMAT=TRADITIONAL */',
} as const;

const statements: HotStatement[] = [];

export function hotStatement(name: string, sql: string, values: unknown[]): string {
  statements.push({ name, sql, values });
  return sql;
}

export function hotStatements(): readonly HotStatement[] {
  return statements;
}
