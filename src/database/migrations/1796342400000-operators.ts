import type { MigrationInterface, QueryRunner } from 'typeorm';
import { addColumns, dropColumns } from '../repeatable-steps.js';

const USERS = 'users';

// The column is NULL and last, which MySQL and MariaDB add without a copy of the table. It has no index: only a command
// lists operators, and registrations would pay for it.
const COLUMNS = { operator_since: 'bigint NULL' };

export class Operators1796342400000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await addColumns(runner, USERS, COLUMNS);
  }

  async down(runner: QueryRunner): Promise<void> {
    await dropColumns(runner, USERS, Object.keys(COLUMNS));
  }
}
