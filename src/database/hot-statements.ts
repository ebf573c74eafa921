/** A hand-written statement that requests wait for. */
export interface HotStatement {
  name: string;
  sql: string;
  /** examples of the right number and type; an empty text stands for an id or a hash */
  values: unknown[];
}

const statements: HotStatement[] = [];

export function hotStatement(name: string, sql: string, values: unknown[]): string {
  statements.push({ name, sql, values });
  return sql;
}

export function hotStatements(): readonly HotStatement[] {
  return statements;
}
