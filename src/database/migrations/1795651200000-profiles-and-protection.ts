import type { MigrationInterface, QueryRunner, Table } from 'typeorm';
import { columnsFor, foreignKey, index, isMysql, OPTIONAL, PRIMARY } from './columns.js';

const INDEXES: [name: string, table: string, columns: string][] = [
  ['orgs_second_factor_due_at_idx', 'orgs', 'second_factor_due_at'],
  ['events_actor_id_idx', 'events', 'actor_id, id'],
];

/** Every new column is nullable or has a default, so that instances of the previous release continue to work. Each step can be repeated. */
export class ProfilesAndProtection1795651200000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const table of tables(runner)) await runner.createTable(table, true, true, true);
    // TypeORM would copy a whole table of SQLite to add a column.
    for (const [table, column, type] of columns(runner)) {
      if (!(await runner.hasColumn(table, column)))
        await runner.query(`ALTER TABLE ${table} ADD COLUMN ${column} ${type}`);
    }
    for (const [name, table, of] of INDEXES) {
      const { indices } = (await runner.getTable(table))!;
      if (!indices.some((known) => known.name === name))
        await runner.query(`CREATE INDEX ${name} ON ${table} (${of})`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const [name, table] of INDEXES)
      await runner.query(`DROP INDEX ${name}${isMysql(runner) ? ` ON ${table}` : ''}`);
    for (const [table, column] of columns(runner))
      await runner.query(`ALTER TABLE ${table} DROP COLUMN ${column}`);
    for (const table of tables(runner)) await runner.dropTable(table, true);
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
    ['events', 'actor_email', ascii(254)],
    ['sessions', 'reissues', 'integer NOT NULL DEFAULT 0'],
    ['sessions', 'seen_generation', 'integer NOT NULL DEFAULT 0'],
    ['sessions', 'exchange_key', ascii(43)],
  ];
}

function tables(runner: QueryRunner): Table[] {
  const { table, id, text, unicode, number, time, flag } = columnsFor(runner);
  return [
    table(
      'known_places',
      id('user_id', PRIMARY),
      text('network', 49, PRIMARY),
      text('agent', 40, PRIMARY),
      time('first_seen_at'),
      time('last_seen_at'),
      index('known_places_last_seen_at_idx', 'last_seen_at'),
      foreignKey('known_places_user_id_fkey', 'user_id', 'users'),
    ),
    table(
      'login_traces',
      id('user_id', PRIMARY),
      time('last_login_at', OPTIONAL),
      number('failures', { default: 0 }),
      time('failed_at', OPTIONAL),
      text('failed_ip', 45, OPTIONAL),
      time('ip_expires_at', OPTIONAL),
      index('login_traces_ip_expires_at_idx', 'ip_expires_at'),
    ),
    table('operator_emails', text('email', 254, PRIMARY), id('user_id', PRIMARY)),
    table(
      'instances',
      id('id', PRIMARY),
      unicode('host', 255),
      number('pid'),
      text('key_set', 4000),
      text('signing_key', 43),
      time('clock_offset', OPTIONAL),
      time('clock_reading', OPTIONAL),
      flag('counts_alone'),
      time('started_at'),
      time('seen_at'),
      time('differs_since', OPTIONAL),
    ),
  ];
}
