import type { MigrationInterface, QueryRunner, Table } from 'typeorm';
import { columnsFor, foreignKey, index, isMysql, PRIMARY } from './columns.js';

const DUE_INDEX = 'orgs_second_factor_due_at_idx';

/** Every new column is nullable, so that instances of the previous release continue to work. Each step can be repeated. */
export class ProfilesAndProtection1795651200000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.createTable(knownPlaces(runner), true, true, true);
    // TypeORM would copy a whole table of SQLite to add a column.
    for (const [table, column, type] of columns(runner)) {
      if (!(await runner.hasColumn(table, column)))
        await runner.query(`ALTER TABLE ${table} ADD COLUMN ${column} ${type}`);
    }
    const orgs = await runner.getTable('orgs');
    if (!orgs!.indices.some(({ name }) => name === DUE_INDEX))
      await runner.query(`CREATE INDEX ${DUE_INDEX} ON orgs (second_factor_due_at)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX ${DUE_INDEX}${isMysql(runner) ? ' ON orgs' : ''}`);
    for (const [table, column] of columns(runner))
      await runner.query(`ALTER TABLE ${table} DROP COLUMN ${column}`);
    await runner.dropTable('known_places', true);
  }
}

function columns(runner: QueryRunner): [table: string, column: string, type: string][] {
  const mysql = isMysql(runner);
  const ascii = (length: number): string =>
    `varchar(${length})${mysql ? ' CHARACTER SET ascii COLLATE ascii_bin' : ''} NULL`;
  const unicode = (length: number): string =>
    `varchar(${length})${mysql ? ' CHARACTER SET utf8mb4 COLLATE utf8mb4_bin' : ''} NULL`;
  return [
    ['users', 'name', unicode(100)],
    ['users', 'avatar_url', ascii(500)],
    ['users', 'locale', ascii(35)],
    ['users', 'password_checked_at', 'bigint NULL'],
    ['orgs', 'second_factor_from', 'bigint NULL'],
    ['orgs', 'second_factor_due_at', 'bigint NULL'],
    ['mails', 'details', unicode(500)],
  ];
}

function knownPlaces(runner: QueryRunner): Table {
  const { table, id, text, time } = columnsFor(runner);
  return table(
    'known_places',
    id('user_id', PRIMARY),
    text('network', 49, PRIMARY),
    text('agent', 40, PRIMARY),
    time('first_seen_at'),
    time('last_seen_at'),
    index('known_places_last_seen_at_idx', 'last_seen_at'),
    foreignKey('known_places_user_id_fkey', 'user_id', 'users'),
  );
}
