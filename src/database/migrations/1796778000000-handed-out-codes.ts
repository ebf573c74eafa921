import type { MigrationInterface, QueryRunner } from 'typeorm';
import { isMysql } from '../columns.js';
import { addColumns, dropColumns } from '../repeatable-steps.js';

/** The user for whom an operator issued a reset code. */
export class HandedOutCodes1796778000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const ascii = isMysql(runner) ? ' CHARACTER SET ascii COLLATE ascii_bin' : '';
    await addColumns(runner, 'mail_codes', { user_id: `varchar(36)${ascii} NULL` });
  }

  async down(runner: QueryRunner): Promise<void> {
    await dropColumns(runner, 'mail_codes', ['user_id']);
  }
}
