import { type MigrationInterface, type QueryRunner, Table, type TableColumn } from 'typeorm';
import { columnsFor, OPTIONAL, PRIMARY } from '../columns.js';
import { addIndex, dropIndex, tableOf } from '../repeatable-steps.js';

const SESSIONS = 'sessions';
const CODES = 'authorization_codes';

// Every step can be repeated, as MySQL commits each statement. Codes, which live for a minute, are dropped first and
// created empty last: SQLite rebuilds `sessions` for a new column and could otherwise cascade to them.
export class LinkSessions1795305600000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.dropTable(CODES, true);
    await addMissing(runner);
    await addIndex(runner, SESSIONS, {
      name: 'sessions_code_hash_key',
      columnNames: ['code_hash'],
      isUnique: true,
    });
    await addIndex(runner, SESSIONS, { name: 'sessions_parent_id_idx', columnNames: ['parent_id', 'id'] });
    await addIndex(runner, SESSIONS, {
      name: 'sessions_expires_at_id_idx',
      columnNames: ['expires_at', 'id'],
    });
    await dropIndex(runner, SESSIONS, 'sessions_expires_at_idx');
    await runner.createTable(codesAfter(runner), true, true, true);
    await runner.createTable(pendingRevocations(runner), true);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('pending_revocations', true);
    await runner.dropTable(CODES, true);
    await addIndex(runner, SESSIONS, { name: 'sessions_expires_at_idx', columnNames: ['expires_at'] });
    await dropIndex(runner, SESSIONS, 'sessions_expires_at_id_idx');
    await dropIndex(runner, SESSIONS, 'sessions_parent_id_idx');
    await dropIndex(runner, SESSIONS, 'sessions_code_hash_key');
    await dropPresent(runner, ['descendants_revoked_at', 'parent_id', 'code_hash']);
    await runner.createTable(codesBefore(runner), true, true, true);
  }
}

async function addMissing(runner: QueryRunner): Promise<void> {
  const { id, text, time } = columnsFor(runner);
  const columns = [
    time('descendants_revoked_at', OPTIONAL),
    id('parent_id', OPTIONAL),
    text('code_hash', 43, OPTIONAL),
  ];
  const table = await tableOf(runner, SESSIONS);
  const missing = columns.filter(({ name }) => !table.findColumnByName(name));
  if (missing.length > 0) await runner.addColumns(SESSIONS, missing);
}

async function dropPresent(runner: QueryRunner, names: string[]): Promise<void> {
  const table = await tableOf(runner, SESSIONS);
  const present = names.filter((name) => table.findColumnByName(name));
  if (present.length > 0) await runner.dropColumns(SESSIONS, present);
}

function codesAfter(runner: QueryRunner): Table {
  const { time } = columnsFor(runner);
  return codes(runner, [time('created_at'), time('expires_at')], {
    name: 'authorization_codes_expires_at_idx',
    columnNames: ['expires_at'],
  });
}

function codesBefore(runner: QueryRunner): Table {
  const { id, text, time } = columnsFor(runner);
  const columns = [
    text('code_challenge', 43, OPTIONAL),
    time('created_at'),
    time('expires_at'),
    time('consumed_at', OPTIONAL),
    id('granted_session_id', OPTIONAL),
    time('purge_at'),
  ];
  return codes(runner, columns, { name: 'authorization_codes_purge_at_idx', columnNames: ['purge_at'] });
}

function pendingRevocations(runner: QueryRunner): Table {
  const { engine, id, time } = columnsFor(runner);
  return new Table({
    name: 'pending_revocations',
    engine,
    columns: [id('session_id', PRIMARY), id('user_id'), time('since')],
  });
}

function codes(
  runner: QueryRunner,
  columns: TableColumn[],
  index: { name: string; columnNames: string[] },
): Table {
  const { engine, id, text } = columnsFor(runner);
  return new Table({
    name: CODES,
    engine,
    columns: [text('hash', 43, PRIMARY), id('session_id'), ...columns],
    indices: [{ name: 'authorization_codes_session_id_idx', columnNames: ['session_id'] }, index],
    foreignKeys: [
      {
        name: 'authorization_codes_session_id_fkey',
        columnNames: ['session_id'],
        referencedTableName: SESSIONS,
        referencedColumnNames: ['id'],
        onDelete: 'CASCADE',
        onUpdate: 'NO ACTION',
      },
    ],
  });
}
