import { type MigrationInterface, type QueryRunner, Table } from 'typeorm';
import { columnsFor, isMysql, OPTIONAL, PRIMARY } from '../columns.js';

/** Every step can be repeated, as MySQL commits each statement by itself. */
export class CreateSchema1795219200000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const table of tables(runner)) await runner.createTable(table, true, true, true);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of tables(runner).toReversed()) await runner.dropTable(table, true);
  }
}

function tables(runner: QueryRunner): Table[] {
  const mysql = isMysql(runner);
  const { engine, id, text, unicode, number, time } = columnsFor(runner);
  const cascade = (name: string, columnName: string, referencedTableName: string) => ({
    name,
    columnNames: [columnName],
    referencedTableName,
    referencedColumnNames: ['id'],
    onDelete: 'CASCADE',
    onUpdate: 'NO ACTION',
  });

  return [
    new Table({
      name: 'users',
      engine,
      columns: [id('id', PRIMARY), text('email', 254), text('password_hash', 255), time('created_at')],
      uniques: mysql ? [] : [{ name: 'users_email_key', columnNames: ['email'] }],
      indices: mysql ? [{ name: 'users_email_key', columnNames: ['email'], isUnique: true }] : [],
    }),
    new Table({
      name: 'sessions',
      engine,
      columns: [
        id('id', PRIMARY),
        id('user_id'),
        time('auth_time'),
        time('created_at'),
        time('expires_at'),
        time('revoked_at', OPTIONAL),
      ],
      indices: [
        { name: 'sessions_user_id_idx', columnNames: ['user_id'] },
        { name: 'sessions_expires_at_idx', columnNames: ['expires_at'] },
      ],
      foreignKeys: [cascade('sessions_user_id_fkey', 'user_id', 'users')],
    }),
    new Table({
      name: 'authorization_codes',
      engine,
      columns: [
        text('hash', 43, PRIMARY),
        id('session_id'),
        text('code_challenge', 43, OPTIONAL),
        time('created_at'),
        time('expires_at'),
        time('consumed_at', OPTIONAL),
        id('granted_session_id', OPTIONAL),
        time('purge_at'),
      ],
      indices: [
        { name: 'authorization_codes_session_id_idx', columnNames: ['session_id'] },
        { name: 'authorization_codes_purge_at_idx', columnNames: ['purge_at'] },
      ],
      foreignKeys: [cascade('authorization_codes_session_id_fkey', 'session_id', 'sessions')],
    }),
    new Table({
      name: 'orgs',
      engine,
      columns: [id('id', PRIMARY), unicode('name', 100), number('revision'), time('created_at')],
    }),
    new Table({
      name: 'members',
      engine,
      columns: [id('org_id', PRIMARY), id('user_id', PRIMARY), text('role', 6), time('joined_at')],
      indices: [
        { name: 'members_org_id_joined_at_idx', columnNames: ['org_id', 'joined_at', 'user_id'] },
        { name: 'members_org_id_role_idx', columnNames: ['org_id', 'role'] },
        { name: 'members_user_id_joined_at_idx', columnNames: ['user_id', 'joined_at', 'org_id'] },
      ],
      foreignKeys: [
        cascade('members_org_id_fkey', 'org_id', 'orgs'),
        cascade('members_user_id_fkey', 'user_id', 'users'),
      ],
    }),
  ];
}
