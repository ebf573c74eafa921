import type { MigrationInterface, QueryRunner } from 'typeorm';
import { addColumns, addIndex, dropColumns, dropIndex } from '../repeatable-steps.js';

/** Zero means at once, so an email that an older instance writes during the upgrade is not late. */
const COLUMNS = {
  priority: 'integer DEFAULT 0 NOT NULL',
  turn_at: 'bigint DEFAULT 0 NOT NULL',
};
const INDEX = {
  name: 'mails_state_priority_next_attempt_at_turn_at_idx',
  columnNames: ['state', 'priority', 'next_attempt_at', 'turn_at'],
};
const INDEX_BEFORE = { name: 'mails_state_next_attempt_at_idx', columnNames: ['state', 'next_attempt_at'] };

export class TakeTurns1795996800000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await addColumns(runner, 'mails', COLUMNS);
    await runner.query(
      `UPDATE mails SET priority = CASE kind WHEN 'invitation' THEN 2 ELSE 1 END
        WHERE state = 'waiting' AND kind NOT IN ('password_reset', 'email_verification')`,
    );
    await addIndex(runner, 'mails', INDEX);
    await dropIndex(runner, 'mails', INDEX_BEFORE.name);
  }

  async down(runner: QueryRunner): Promise<void> {
    await addIndex(runner, 'mails', INDEX_BEFORE);
    await dropIndex(runner, 'mails', INDEX.name);
    await dropColumns(runner, 'mails', Object.keys(COLUMNS));
  }
}
