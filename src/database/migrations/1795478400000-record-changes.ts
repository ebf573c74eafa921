import {
  type MigrationInterface,
  type QueryRunner,
  Table,
  TableColumn,
  type TableColumnOptions,
} from 'typeorm';
import { addColumns, dropColumns } from '../repeatable-steps.js';

const USER_COLUMNS = {
  revision: 'integer NOT NULL DEFAULT 1',
  auth_epoch: 'integer NOT NULL DEFAULT 0',
  disabled_at: 'bigint NULL',
  email_verified_at: 'bigint NULL',
  password_changed_at: 'bigint NULL',
};
const SESSION_COLUMNS = { auth_epoch: 'integer NOT NULL DEFAULT 0' };

/**
 * The record of changes, and what ends all sessions of an account at once. MySQL commits each statement by itself, so
 * every step can be repeated. All columns have defaults: an instance of before goes on beside one of after.
 */
export class RecordChanges1795478400000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await addColumns(runner, 'users', USER_COLUMNS);
    await addColumns(runner, 'sessions', SESSION_COLUMNS);
    await runner.createTable(events(runner), true, true, true);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('events', true);
    await dropColumns(runner, 'sessions', Object.keys(SESSION_COLUMNS));
    await dropColumns(runner, 'users', Object.keys(USER_COLUMNS));
  }
}

function events(runner: QueryRunner): Table {
  const mysql = runner.dataSource.options.type !== 'better-sqlite3';
  const ascii = mysql ? { charset: 'ascii', collation: 'ascii_bin' } : {};
  const unicode = mysql ? { charset: 'utf8mb4', collation: 'utf8mb4_bin' } : {};
  const text = (name: string, length: number, more: Partial<TableColumnOptions> = {}): TableColumn =>
    new TableColumn({ name, type: 'varchar', length: String(length), isNullable: true, ...ascii, ...more });
  const needed = { isNullable: false };
  const revision = (name: string): TableColumn =>
    new TableColumn({ name, type: 'integer', isNullable: true });

  return new Table({
    name: 'events',
    engine: mysql ? 'InnoDB' : undefined,
    columns: [
      text('id', 36, { ...needed, isPrimary: true }),
      text('type', 40, needed),
      new TableColumn({ name: 'at', type: 'bigint' }),
      text('actor_type', 8, needed),
      text('actor_id', 128, unicode),
      text('actor_session_id', 36),
      text('org_id', 36),
      revision('org_revision'),
      text('user_id', 36),
      revision('user_revision'),
      text('session_id', 36),
      text('data', 1000, needed),
      text('request_id', 128),
      text('ip', 45),
      text('reason', 500, unicode),
    ],
    indices: [
      { name: 'events_org_id_org_revision_idx', columnNames: ['org_id', 'org_revision', 'id'] },
      { name: 'events_org_id_user_id_idx', columnNames: ['org_id', 'user_id', 'org_revision', 'id'] },
      { name: 'events_user_id_idx', columnNames: ['user_id', 'id'] },
    ],
  });
}
