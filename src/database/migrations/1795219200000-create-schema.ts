import { type MigrationInterface, type QueryRunner, type Table, TableUnique } from 'typeorm';
import { columnsFor, foreignKey, index, isMysql, OPTIONAL, PRIMARY, unique } from './columns.js';
import { orgTables } from './1795219200000-create-schema.orgs.js';

/** MySQL commits each statement by itself, so that every step can be repeated. */
export class CreateSchema1795219200000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const table of tables(runner)) await runner.createTable(table, true, true, true);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of tables(runner).toReversed()) await runner.dropTable(table, true);
  }
}

function tables(runner: QueryRunner): Table[] {
  return [...userTables(runner), ...orgTables(runner), ...serviceTables(runner)];
}

function userTables(runner: QueryRunner): Table[] {
  const { table, id, text, unicode, number, time } = columnsFor(runner);
  return [
    table(
      'users',
      id('id', PRIMARY),
      text('email', 254),
      text('password_hash', 255),
      time('created_at'),
      number('revision', { default: 1 }),
      number('auth_epoch', { default: 0 }),
      time('disabled_at', OPTIONAL),
      time('email_verified_at', OPTIONAL),
      time('password_changed_at', OPTIONAL),
      time('second_factor_at', OPTIONAL),
      time('operator_since', OPTIONAL),
      text('disabled_email', 254, OPTIONAL),
      isMysql(runner)
        ? unique('users_email_key', 'email')
        : new TableUnique({ name: 'users_email_key', columnNames: ['email'] }),
      index('users_disabled_email_idx', 'disabled_email'),
    ),
    table(
      'sessions',
      id('id', PRIMARY),
      id('user_id'),
      time('auth_time'),
      time('created_at'),
      time('expires_at'),
      time('revoked_at', OPTIONAL),
      id('login_id', OPTIONAL),
      id('branch_id', OPTIONAL),
      text('code_hash', 43, OPTIONAL),
      number('auth_epoch', { default: 0 }),
      number('refresh_generation', { default: 0 }),
      time('rotated_at', OPTIONAL),
      text('ip', 45, OPTIONAL),
      unicode('user_agent', 200, OPTIONAL),
      unicode('device_name', 60, OPTIONAL),
      text('amr', 40, { default: "'pwd'" }),
      text('service', 40, OPTIONAL),
      number('bound_epoch', OPTIONAL),
      // With each update of the index that serves a foreign key, InnoDB locks the row of the user. A refresh updates
      // `expires_at`, so that an index of `user_id` alone has to serve it.
      index('sessions_user_id_idx', 'user_id'),
      index('sessions_user_id_alive_idx', 'user_id', 'auth_epoch', 'revoked_at', 'expires_at'),
      index('sessions_login_id_idx', 'login_id', 'id'),
      index('sessions_branch_id_idx', 'branch_id', 'id'),
      index('sessions_expires_at_id_idx', 'expires_at', 'id'),
      unique('sessions_code_hash_key', 'code_hash'),
      foreignKey('sessions_user_id_fkey', 'user_id', 'users'),
    ),
    table(
      'authorization_codes',
      text('hash', 43, PRIMARY),
      id('session_id'),
      time('created_at'),
      time('expires_at'),
      index('authorization_codes_session_id_created_at_idx', 'session_id', 'created_at'),
      index('authorization_codes_expires_at_idx', 'expires_at'),
      foreignKey('authorization_codes_session_id_fkey', 'session_id', 'sessions'),
    ),
    table(
      'pending_revocations',
      id('session_id', PRIMARY),
      id('user_id'),
      time('since'),
      text('reason', 20),
      id('actor_id', OPTIONAL),
      id('actor_session_id', OPTIONAL),
      text('request_id', 128, OPTIONAL),
      text('ip', 45, OPTIONAL),
    ),
    table(
      'second_factors',
      id('user_id', PRIMARY),
      text('secret', 200),
      time('last_step', { default: 0 }),
      time('enabled_at', OPTIONAL),
      time('pending_until', OPTIONAL),
      foreignKey('second_factors_user_id_fkey', 'user_id', 'users'),
    ),
    table(
      'second_factor_failures',
      id('user_id', PRIMARY),
      text('scope', 9, PRIMARY),
      number('count'),
      time('since'),
      number('notified', { default: 0 }),
      foreignKey('second_factor_failures_user_id_fkey', 'user_id', 'users'),
    ),
    table(
      'recovery_codes',
      id('user_id', PRIMARY),
      text('hash', 43, PRIMARY),
      time('used_at', OPTIONAL),
      foreignKey('recovery_codes_user_id_fkey', 'user_id', 'users'),
    ),
  ];
}

function serviceTables(runner: QueryRunner): Table[] {
  const { table, id, text, number, time } = columnsFor(runner);
  return [
    table(
      'services',
      text('name', 40, PRIMARY),
      text('allow', 200),
      number('epoch', { default: 0 }),
      number('revision', { default: 1 }),
      time('created_at'),
      time('disabled_at', OPTIONAL),
      time('removed_at', OPTIONAL),
    ),
    table(
      'service_secrets',
      id('id', PRIMARY),
      text('service', 40),
      text('hash', 43),
      time('created_at'),
      time('last_used_at', OPTIONAL),
      time('revoked_at', OPTIONAL),
      index('service_secrets_service_idx', 'service'),
      unique('service_secrets_hash_key', 'hash'),
      foreignKey('service_secrets_service_fkey', 'service', 'services', 'name'),
    ),
    table(
      'lifted_limits',
      text('lift_key', 22, PRIMARY),
      time('lifted_at'),
      index('lifted_limits_lifted_at_idx', 'lifted_at'),
    ),
  ];
}
