import type { MigrationInterface, QueryRunner, Table } from 'typeorm';
import { columnsFor, foreignKey, index, OPTIONAL, PRIMARY, unique } from './columns.js';

/** Instances of the previous release ignore the table and accept no key. Each step can be repeated. */
export class ApiKeys1795996800000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.createTable(apiKeys(runner), true, true, true);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable(apiKeys(runner), true);
  }
}

function apiKeys(runner: QueryRunner): Table {
  const { table, text, id, unicode, time } = columnsFor(runner);
  return table(
    'api_keys',
    id('id', PRIMARY),
    text('hash', 43),
    id('user_id'),
    id('org_id', OPTIONAL),
    text('audience', 40),
    text('role', 6),
    unicode('name', 60),
    time('created_at'),
    time('expires_at'),
    time('last_used_at', OPTIONAL),
    foreignKey('api_keys_user_id_fkey', 'user_id', 'users'),
    foreignKey('api_keys_org_id_fkey', 'org_id', 'orgs'),
    unique('api_keys_hash_key', 'hash'),
    index('api_keys_user_id_org_id_idx', 'user_id', 'org_id'),
    index('api_keys_org_id_idx', 'org_id'),
    index('api_keys_audience_id_idx', 'audience', 'id'),
    index('api_keys_expires_at_idx', 'expires_at'),
  );
}
