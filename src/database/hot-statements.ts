/** A hand-written statement that requests wait for. */
export interface HotStatement {
  name: string;
  sql: string;
  /** examples of the right number and type; an empty text stands for an id or a hash */
  values: unknown[];
}

const statements: HotStatement[] = [];

/** Registers a statement for the doctor and the test of query plans, and returns its SQL. */
export function hotStatement(name: string, sql: string, values: unknown[]): string {
  statements.push({ name, sql, values });
  return sql;
}

/** Those of all modules loaded so far. */
export function hotStatements(): readonly HotStatement[] {
  return statements;
}
