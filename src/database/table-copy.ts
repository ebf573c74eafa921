import type { DataSource, EntityMetadata } from 'typeorm';
import { type NodeSqlite, openToRead } from './sqlite/node-sqlite.js';
import { placeholders } from './statements.js';
import { type Transaction, Transactions } from './transactions/transactions.js';

const ROWS_AT_ONCE = 200;

export interface CopiedTable {
  table: string;
  rows: number;
}

export class TableNotEmptyError extends Error {
  constructor(table: string) {
    super(`the table ${table} has rows already`);
  }
}

export async function copyTables(file: string, target: DataSource): Promise<CopiedTable[]> {
  const source = openToRead(file);
  try {
    source.prepare('BEGIN').run();
    return await new Transactions(target).run({ principal: 'copy' }, async (tx) => {
      const copied: CopiedTable[] = [];
      for (const metadata of referredFirst(target.entityMetadatas)) {
        copied.push(await copyTable(source, tx, metadata));
      }
      return copied;
    });
  } finally {
    source.close();
  }
}

/** Sorts each table behind those that it refers to, because the database checks foreign keys with every row. */
function referredFirst(tables: readonly EntityMetadata[]): EntityMetadata[] {
  const ordered: EntityMetadata[] = [];
  while (ordered.length < tables.length) {
    const next = tables.filter(
      (table) =>
        !ordered.includes(table) &&
        table.foreignKeys.every(({ referencedEntityMetadata }) => ordered.includes(referencedEntityMetadata)),
    );
    if (next.length === 0) throw new Error('Tables refer to each other');
    ordered.push(...next);
  }
  return ordered;
}

async function copyTable(
  source: NodeSqlite,
  tx: Transaction,
  { tableName: table, columns }: EntityMetadata,
): Promise<CopiedTable> {
  if ((await countOf(tx, table)) > 0) throw new TableNotEmptyError(table);
  const names = columns.map(({ databaseName }) => databaseName);
  const page = source.prepare(
    `SELECT rowid, ${names.join(', ')} FROM ${table} WHERE rowid > ? ORDER BY rowid LIMIT ${ROWS_AT_ONCE}`,
  );
  let rows = 0;
  for (let after = 0; ;) {
    const found = page.all(after) as Record<string, unknown>[];
    if (found.length === 0) break;
    rows += await tx.write(
      `INSERT INTO ${table} (${names.join(', ')}) VALUES ${found.map(() => `(${placeholders(names.length)})`).join(', ')}`,
      found.flatMap((one) => names.map((name) => one[name])),
    );
    after = Number(found.at(-1)!['rowid']);
  }
  const present = await countOf(tx, table);
  if (present !== rows) throw new Error(`${table} has ${present} rows, of ${rows} that were written`);
  return { table, rows };
}

async function countOf(tx: Transaction, table: string): Promise<number> {
  const [count] = await tx.read<{ total: number }>(`SELECT COUNT(*) AS total FROM ${table}`, []);
  return count!.total;
}
