import type { MigrationInterface, QueryRunner, Table } from 'typeorm';
import { columnsFor, index, OPTIONAL, PRIMARY } from './columns.js';

/** Instances of the previous release ignore the table. Each step can be repeated. */
export class ServiceCalls1795910400000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.createTable(serviceCalls(runner), true, true, true);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable(serviceCalls(runner), true);
  }
}

function serviceCalls(runner: QueryRunner): Table {
  const { table, text, number, time } = columnsFor(runner);
  return table(
    'service_calls',
    text('caller', 40, PRIMARY),
    text('callee', 40, PRIMARY),
    number('epoch', { default: 0 }),
    time('allowed_at', OPTIONAL),
    index('service_calls_callee_idx', 'callee', 'caller'),
  );
}
