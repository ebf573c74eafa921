import {
  type MigrationInterface,
  type QueryRunner,
  Table,
  TableColumn,
  type TableColumnOptions,
} from 'typeorm';
import { addIndex, dropIndex } from '../repeatable-steps.js';

const SESSIONS = 'sessions';
const CODES = 'authorization_codes';

/**
 * Every step can be repeated, as MySQL commits each statement. Codes, which live for a minute, are dropped
 * first and created empty last: SQLite rebuilds `sessions` for a new column and could otherwise cascade to
 * them.
 */
export class LinkSessions1795305600000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.dropTable(CODES, true);
    await addColumns(runner, [
      time('descendants_revoked_at', true),
      text(runner, 'parent_id', 36),
      text(runner, 'code_hash', 43),
    ]);
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
    await dropColumns(runner, ['descendants_revoked_at', 'parent_id', 'code_hash']);
    await runner.createTable(codesBefore(runner), true, true, true);
  }
}

async function addColumns(runner: QueryRunner, columns: TableColumn[]): Promise<void> {
  const table = await runner.getTable(SESSIONS);
  const missing = columns.filter(({ name }) => !table?.findColumnByName(name));
  if (missing.length > 0) await runner.addColumns(SESSIONS, missing);
}

async function dropColumns(runner: QueryRunner, names: string[]): Promise<void> {
  const table = await runner.getTable(SESSIONS);
  const present = names.filter((name) => table?.findColumnByName(name));
  if (present.length > 0) await runner.dropColumns(SESSIONS, present);
}

function codesAfter(runner: QueryRunner): Table {
  return codes(runner, [time('created_at'), time('expires_at')], {
    name: 'authorization_codes_expires_at_idx',
    columnNames: ['expires_at'],
  });
}

function codesBefore(runner: QueryRunner): Table {
  const columns = [
    text(runner, 'code_challenge', 43),
    time('created_at'),
    time('expires_at'),
    time('consumed_at', true),
    text(runner, 'granted_session_id', 36),
    time('purge_at'),
  ];
  return codes(runner, columns, { name: 'authorization_codes_purge_at_idx', columnNames: ['purge_at'] });
}

function pendingRevocations(runner: QueryRunner): Table {
  return new Table({
    name: 'pending_revocations',
    engine: isMysql(runner) ? 'InnoDB' : undefined,
    columns: [
      text(runner, 'session_id', 36, { isNullable: false, isPrimary: true }),
      text(runner, 'user_id', 36, { isNullable: false }),
      time('since'),
    ],
  });
}

function codes(
  runner: QueryRunner,
  columns: TableColumn[],
  index: { name: string; columnNames: string[] },
): Table {
  return new Table({
    name: CODES,
    engine: isMysql(runner) ? 'InnoDB' : undefined,
    columns: [
      text(runner, 'hash', 43, { isNullable: false, isPrimary: true }),
      text(runner, 'session_id', 36, { isNullable: false }),
      ...columns,
    ],
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

function text(
  runner: QueryRunner,
  name: string,
  length: number,
  more: Partial<TableColumnOptions> = {},
): TableColumn {
  const ascii = isMysql(runner) ? { charset: 'ascii', collation: 'ascii_bin' } : {};
  return new TableColumn({
    name,
    type: 'varchar',
    length: String(length),
    isNullable: true,
    ...ascii,
    ...more,
  });
}

function time(name: string, isNullable = false): TableColumn {
  return new TableColumn({ name, type: 'bigint', isNullable });
}

function isMysql(runner: QueryRunner): boolean {
  return runner.dataSource.options.type !== 'better-sqlite3';
}
