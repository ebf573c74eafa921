/** A hand-written statement that requests wait for. */
export interface HotStatement {
  /** what it is for */
  name: string;
  sql: string;
  /** of the right number and type; an empty text stands for an id or a hash */
  values: unknown[];
}

const statements: HotStatement[] = [];

/** Registers a statement with the doctor and the test of query plans, and returns its SQL. */
export function hotStatement(name: string, sql: string, values: unknown[]): string {
  statements.push({ name, sql, values });
  return sql;
}

/** All that the modules loaded so far have registered. */
export function hotStatements(): readonly HotStatement[] {
  return statements;
}
