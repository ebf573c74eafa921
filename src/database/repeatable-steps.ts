import { type QueryRunner, type Table, TableIndex } from 'typeorm';

/** These steps do nothing if they are done already: MySQL commits each statement by itself. */

export async function addIndex(
  runner: QueryRunner,
  table: string,
  index: { name: string; columnNames: string[]; isUnique?: boolean; where?: string },
): Promise<void> {
  const present = await tableOf(runner, table);
  if (present.indices.some(({ name }) => name === index.name)) return;
  await runner.createIndex(present, new TableIndex(index));
}

export async function dropIndex(runner: QueryRunner, table: string, index: string): Promise<void> {
  const present = await tableOf(runner, table);
  if (present.indices.some(({ name }) => name === index)) await runner.dropIndex(present, index);
}

// TypeORM would rebuild a SQLite table for a new column, and rows that refer to the old one would go with it.
export async function addColumns(
  runner: QueryRunner,
  table: string,
  columns: Record<string, string>,
): Promise<void> {
  const present = await tableOf(runner, table);
  for (const [name, definition] of Object.entries(columns)) {
    if (!present.findColumnByName(name)) {
      await runner.query(`ALTER TABLE ${table} ADD COLUMN ${name} ${definition}`);
    }
  }
}

export async function dropColumns(runner: QueryRunner, table: string, columns: string[]): Promise<void> {
  const present = await tableOf(runner, table);
  for (const name of columns) {
    if (present.findColumnByName(name)) await runner.query(`ALTER TABLE ${table} DROP COLUMN ${name}`);
  }
}

export async function tableOf(runner: QueryRunner, name: string): Promise<Table> {
  const table = await runner.getTable(name);
  if (!table) throw new Error(`There is no table ${name}`);
  return table;
}
