import { type MigrationInterface, type QueryRunner, Table } from 'typeorm';
import { columnsFor } from '../columns.js';

/** Emails whose login limits were lifted, for the instances that count them. */
export class LiftedLimits1796781700000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const { engine, text, time } = columnsFor(runner);
    const table = new Table({
      name: 'lifted_limits',
      engine,
      columns: [text('lift_key', 22, { isPrimary: true }), time('lifted_at')],
      indices: [{ name: 'lifted_limits_lifted_at_idx', columnNames: ['lifted_at'] }],
    });
    await runner.createTable(table, true, true, true);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('lifted_limits', true);
  }
}
