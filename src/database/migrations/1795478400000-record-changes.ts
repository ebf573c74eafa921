import { type MigrationInterface, type QueryRunner, Table } from 'typeorm';
import { columnsFor, OPTIONAL, PRIMARY } from '../columns.js';
import { addColumns, dropColumns } from '../repeatable-steps.js';

const USER_COLUMNS = {
  revision: 'integer NOT NULL DEFAULT 1',
  auth_epoch: 'integer NOT NULL DEFAULT 0',
  disabled_at: 'bigint NULL',
  email_verified_at: 'bigint NULL',
  password_changed_at: 'bigint NULL',
};
const SESSION_COLUMNS = { auth_epoch: 'integer NOT NULL DEFAULT 0' };

/** All columns have defaults, as instances of the previous version run beside new ones. Every step can be repeated. */
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
  const { engine, id, text, unicode, number, time } = columnsFor(runner);
  return new Table({
    name: 'events',
    engine,
    columns: [
      id('id', PRIMARY),
      text('type', 40),
      time('at'),
      text('actor_type', 8),
      unicode('actor_id', 128, OPTIONAL),
      id('actor_session_id', OPTIONAL),
      id('org_id', OPTIONAL),
      number('org_revision', OPTIONAL),
      id('user_id', OPTIONAL),
      number('user_revision', OPTIONAL),
      id('session_id', OPTIONAL),
      text('data', 1000),
      text('request_id', 128, OPTIONAL),
      text('ip', 45, OPTIONAL),
      unicode('reason', 500, OPTIONAL),
    ],
    indices: [
      { name: 'events_org_id_org_revision_idx', columnNames: ['org_id', 'org_revision', 'id'] },
      { name: 'events_org_id_user_id_idx', columnNames: ['org_id', 'user_id', 'org_revision', 'id'] },
      { name: 'events_user_id_idx', columnNames: ['user_id', 'id'] },
    ],
  });
}
