import type { MigrationInterface, QueryRunner, Table } from 'typeorm';
import { columnsFor, foreignKey, index, isMysql, OPTIONAL, PRIMARY, unique } from './columns.js';

/** Instances of the previous release ignore the tables and columns. Each step can be repeated. */
export class Providers1796083200000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const table of tables(runner)) await runner.createTable(table, true, true, true);
    // TypeORM would copy the whole table of SQLite to add a column.
    for (const [column, type] of columnsOfSessions(runner)) {
      if (!(await runner.hasColumn('sessions', column)))
        await runner.query(`ALTER TABLE sessions ADD COLUMN ${column} ${type}`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const [column] of columnsOfSessions(runner))
      await runner.query(`ALTER TABLE sessions DROP COLUMN ${column}`);
    for (const table of tables(runner).toReversed()) await runner.dropTable(table, true);
  }
}

function columnsOfSessions(runner: QueryRunner): [column: string, type: string][] {
  const ascii = isMysql(runner) ? ' CHARACTER SET ascii COLLATE ascii_bin' : '';
  return [
    ['provider', `varchar(40)${ascii} NULL`],
    ['ends_at', 'bigint NULL'],
  ];
}

function tables(runner: QueryRunner): Table[] {
  const { table, id, text, unicode, exact, number, time, flag } = columnsFor(runner);
  return [
    table(
      'providers',
      id('id', PRIMARY),
      exact('name', 40),
      unicode('title', 100),
      text('issuer', 500),
      text('client_id', 255),
      text('secret', 2000),
      flag('required', { default: 0 }),
      unicode('settings', 4000),
      number('revision', { default: 1 }),
      time('created_at'),
      time('disabled_at', OPTIONAL),
      unique('providers_name_key', 'name'),
    ),
    table(
      'provider_domains',
      text('domain', 253, PRIMARY),
      id('provider_id'),
      index('provider_domains_provider_id_idx', 'provider_id'),
      foreignKey('provider_domains_provider_id_fkey', 'provider_id', 'providers'),
    ),
    table(
      'identities',
      id('provider_id', PRIMARY),
      exact('subject', 255, PRIMARY),
      id('user_id'),
      time('created_at'),
      unique('identities_provider_id_user_id_key', 'provider_id', 'user_id'),
      index('identities_user_id_idx', 'user_id'),
      foreignKey('identities_provider_id_fkey', 'provider_id', 'providers'),
      foreignKey('identities_user_id_fkey', 'user_id', 'users'),
    ),
    // No foreign key, because an insert would wait for changes of the provider's row.
    table(
      'provider_logins',
      text('hash', 43, PRIMARY),
      id('provider_id'),
      exact('subject', 255),
      text('email', 254, OPTIONAL),
      flag('email_verified'),
      unicode('name', 100, OPTIONAL),
      time('auth_time', OPTIONAL),
      number('tries', { default: 0 }),
      time('created_at'),
      time('expires_at'),
      index('provider_logins_expires_at_idx', 'expires_at'),
    ),
  ];
}
