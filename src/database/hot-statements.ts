/** A hand-written statement that requests wait for. */
export interface HotStatement {
  name: string;
  sql: string;
  /** examples of the right number and type; an empty text stands for an id or a hash */
  values: unknown[];
}

/** Before a statement: its plan as rows. MySQL answers as a tree otherwise; MariaDB reads its format as a comment. */
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
