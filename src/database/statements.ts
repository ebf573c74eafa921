import type { EntityManager } from 'typeorm';

/** Runs one INSERT, UPDATE or DELETE inside a transaction and tells how many rows it matched. */
export async function affectedRows(manager: EntityManager, sql: string, values: unknown[]): Promise<number> {
  const runner = manager.queryRunner;
  if (!runner) throw new Error('affectedRows needs the EntityManager of a transaction');
  const result = await runner.query(sql, values, true);
  return result.affected ?? 0;
}
