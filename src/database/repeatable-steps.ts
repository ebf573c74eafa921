import { type QueryRunner, type Table, TableIndex } from 'typeorm';

/** Steps that do nothing when they are done already: MySQL commits each statement by itself. */

export async function addIndex(
  runner: QueryRunner,
  table: string,
  index: { name: string; columnNames: string[]; isUnique?: boolean },
): Promise<void> {
  const { indices } = await tableOf(runner, table);
  if (!indices.some(({ name }) => name === index.name))
    await runner.createIndex(table, new TableIndex(index));
}

export async function dropIndex(runner: QueryRunner, table: string, index: string): Promise<void> {
  const { indices } = await tableOf(runner, table);
  if (indices.some(({ name }) => name === index)) await runner.dropIndex(table, index);
}

export async function tableOf(runner: QueryRunner, name: string): Promise<Table> {
  const table = await runner.getTable(name);
  if (!table) throw new Error(`There is no table ${name}`);
  return table;
}
