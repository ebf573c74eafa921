import type { MigrationInterface, QueryRunner } from 'typeorm';
import { addColumns, dropColumns } from '../repeatable-steps.js';

const SESSIONS = 'sessions';

/** New columns have defaults or are NULL, as instances of the previous version run beside new ones. */
export class RefreshSessions1795564800000 implements MigrationInterface {
  up(runner: QueryRunner): Promise<void> {
    return addColumns(runner, SESSIONS, columns(runner));
  }

  down(runner: QueryRunner): Promise<void> {
    return dropColumns(runner, SESSIONS, Object.keys(columns(runner)));
  }
}

function columns(runner: QueryRunner): Record<string, string> {
  const mysql = runner.dataSource.options.type !== 'better-sqlite3';
  const text = (length: number, charset: string): string =>
    `varchar(${length})${mysql ? ` CHARACTER SET ${charset} COLLATE ${charset}_bin` : ''} NULL`;
  return {
    refresh_generation: 'integer NOT NULL DEFAULT 0',
    rotated_at: 'bigint NULL',
    ip: text(45, 'ascii'),
    user_agent: text(200, 'utf8mb4'),
  };
}
