import type { ObjectLiteral, Repository } from 'typeorm';

/** MariaDB compares 100,000 rows in about a tenth of a second. */
const MAX_ROWS = 100_000;
const MAX_FOUND = 50;

export interface NewestFound<Row> {
  rows: Row[];
  /** false if there are more rows, found or not searched */
  isComplete: boolean;
}

interface Search {
  table: string;
  columns: string;
  where: string;
  values: unknown[];
}

/** Text that LIKE … ESCAPE '!' takes literally. */
export function literal(text: string): string {
  return text.replaceAll(/[!%_]/g, '!$&');
}

/**
 * SQL that finds a part of a text, ignoring case: on SQLite of ASCII, on MySQL of every letter, and accents. The columns
 * there are binary or ASCII. `utf8mb4_unicode_ci` would take every emoji for every other.
 */
export function contains<Entity extends ObjectLiteral>(rows: Repository<Entity>, column: string): string {
  const isSqlite = rows.manager.dataSource.options.type === 'better-sqlite3';
  const text = isSqlite ? column : `CONVERT(${column} USING utf8mb4) COLLATE utf8mb4_unicode_520_ci`;
  return `${text} LIKE ? ESCAPE '!'`;
}

/** Reads a bounded number of the newest rows, because no index finds a part of a text. */
export async function searchNewest<Row, Entity extends ObjectLiteral>(
  rows: Repository<Entity>,
  { table, columns, where, values }: Search,
): Promise<NewestFound<Row>> {
  const [beyond] = await rows.query<{ id: string }[]>(
    `SELECT id FROM ${table} ORDER BY id DESC LIMIT 1 OFFSET ${MAX_ROWS}`,
  );
  const found = await rows.query<Row[]>(
    `SELECT ${columns} FROM ${table} WHERE id > ? AND ${where} ORDER BY id DESC LIMIT ${MAX_FOUND + 1}`,
    [beyond?.id ?? '', ...values],
  );
  return { rows: found.slice(0, MAX_FOUND), isComplete: beyond === undefined && found.length <= MAX_FOUND };
}
