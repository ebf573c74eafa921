import type { MigrationInterface, QueryRunner } from 'typeorm';
import { addColumns, dropColumns } from '../repeatable-steps.js';

const FAILURES = 'second_factor_failures';

/** Whether the notice of wrong codes was sent, which the count said before by one above the limit. */
export class WrongCodesNotified1796781600000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await addColumns(runner, FAILURES, { notified: 'integer NOT NULL DEFAULT 0' });
  }

  async down(runner: QueryRunner): Promise<void> {
    await dropColumns(runner, FAILURES, ['notified']);
  }
}
