import type { Database } from './database.js';
import { engine } from './engine.js';

const TABLES = {
  sqlite: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
  mariadb: 'SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()',
};

/** Every row of every table, in an order of their own, but for what numbers events in the background. */
export async function allRows(db: Database): Promise<Record<string, string[]>> {
  const tables: Record<string, string[]> = {};
  for (const { name } of await db.query(TABLES[engine])) {
    const rows = name === 'feed' ? [] : await db.query(`SELECT * FROM ${String(name)}`);
    const isEvent = name === 'events';
    tables[String(name)] = rows
      .map((row) => JSON.stringify(isEvent ? { ...row, pending: null } : row))
      .toSorted();
  }
  return tables;
}
