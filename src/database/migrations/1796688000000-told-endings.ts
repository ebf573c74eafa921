import type { MigrationInterface, QueryRunner } from 'typeorm';
import { isMysql } from '../columns.js';
import { addColumns, dropColumns } from '../repeatable-steps.js';

const PENDING = 'pending_revocations';

/** By whom and why a session was ended, for the instance that continues with those derived from it. */
export class ToldEndings1796688000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await addColumns(runner, PENDING, columns(runner));
  }

  async down(runner: QueryRunner): Promise<void> {
    await dropColumns(runner, PENDING, Object.keys(columns(runner)));
  }
}

function columns(runner: QueryRunner): Record<string, string> {
  const text = (length: number): string =>
    `varchar(${length})${isMysql(runner) ? ' CHARACTER SET ascii COLLATE ascii_bin' : ''}`;
  return {
    reason: `${text(20)} NOT NULL DEFAULT 'revoked'`,
    actor_id: `${text(36)} NULL`,
    actor_session_id: `${text(36)} NULL`,
    request_id: `${text(128)} NULL`,
    ip: `${text(45)} NULL`,
  };
}
