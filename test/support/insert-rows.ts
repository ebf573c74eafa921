import type { Database } from './database.js';

/** Inserts rows in one statement, each with values in the order of the columns. */
export function insertRows(
  db: Database,
  table: string,
  columns: string,
  rows: (string | number | null)[][],
): Promise<unknown> {
  const places = rows.map((row) => `(${row.map(() => '?').join()})`).join();
  return db.query(`INSERT INTO ${table} (${columns}) VALUES ${places}`, rows.flat());
}
