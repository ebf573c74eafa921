import type { QueryRunner } from 'typeorm';

/** A transaction that is open: what runs through it takes effect together, or not at all. */
export class Transaction {
  constructor(private readonly runner: QueryRunner) {}

  read<Row>(sql: string, values: unknown[]): Promise<Row[]> {
    return this.runner.query(sql, values) as Promise<Row[]>;
  }

  /** Runs one INSERT, UPDATE or DELETE and tells how many rows it matched. */
  async write(sql: string, values: unknown[]): Promise<number> {
    const result = await this.runner.query(sql, values, true);
    return result.affected ?? 0;
  }
}
