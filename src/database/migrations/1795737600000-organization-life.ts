import { type MigrationInterface, type QueryRunner, Table } from 'typeorm';
import { columnsFor, isMysql, OPTIONAL, PRIMARY } from '../columns.js';
import { addColumns, addIndex, dropColumns, dropIndex } from '../repeatable-steps.js';

const ORG_COLUMNS = { deleted_at: 'bigint NULL', purge_at: 'bigint NULL', purge_began_at: 'bigint NULL' };
const PURGE_INDEX = { name: 'orgs_purge_at_idx', columnNames: ['purge_at'] };
const ROLE_INDEX_BEFORE = { name: 'members_org_id_role_idx', columnNames: ['org_id', 'role'] };
const SEARCH_INDEX = { name: 'members_org_id_role_email_idx', columnNames: ['org_id', 'role', 'email'] };
const MAIL_INDEXES = [
  { name: 'mails_org_id_id_idx', columnNames: ['org_id', 'id'] },
  { name: 'mails_sender_id_id_idx', columnNames: ['sender_id', 'id'] },
];

export class OrganizationLife1795737600000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await addColumns(runner, 'orgs', ORG_COLUMNS);
    await addIndex(runner, 'orgs', PURGE_INDEX);
    await addIndex(runner, 'members', SEARCH_INDEX);
    await dropIndex(runner, 'members', ROLE_INDEX_BEFORE.name);
    await runner.createTable(invitations(runner), true, true, true);
    await runner.createTable(idempotencyKeys(runner), true, true, true);
    await addColumns(runner, 'mails', mailColumns(runner));
    for (const index of MAIL_INDEXES) await addIndex(runner, 'mails', index);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const { name } of MAIL_INDEXES) await dropIndex(runner, 'mails', name);
    await dropColumns(runner, 'mails', Object.keys(mailColumns(runner)));
    await runner.dropTable('idempotency_keys', true);
    await runner.dropTable('invitations', true);
    await addIndex(runner, 'members', ROLE_INDEX_BEFORE);
    await dropIndex(runner, 'members', SEARCH_INDEX.name);
    await dropIndex(runner, 'orgs', PURGE_INDEX.name);
    await dropColumns(runner, 'orgs', Object.keys(ORG_COLUMNS));
  }
}

/** The organization and the sender of a mailed invitation, by which the invitations of a day are counted. */
function mailColumns(runner: QueryRunner): Record<string, string> {
  const id = `varchar(36)${isMysql(runner) ? ' CHARACTER SET ascii COLLATE ascii_bin' : ''} NULL`;
  return { org_id: id, sender_id: id };
}

function invitations(runner: QueryRunner): Table {
  const { engine, id, text, number, time } = columnsFor(runner);
  return new Table({
    name: 'invitations',
    engine,
    columns: [
      id('id', PRIMARY),
      id('org_id'),
      text('email', 254),
      text('role', 6),
      text('status', 8),
      number('pending', OPTIONAL),
      number('code_number'),
      number('code_shown'),
      number('tries', { default: 0 }),
      id('invited_by'),
      time('created_at'),
      time('expires_at'),
      time('ended_at', OPTIONAL),
    ],
    indices: [
      {
        name: 'invitations_org_id_email_key',
        columnNames: ['org_id', 'email', 'pending'],
        isUnique: true,
      },
      { name: 'invitations_email_idx', columnNames: ['email', 'pending', 'id'] },
      { name: 'invitations_invited_by_idx', columnNames: ['org_id', 'invited_by', 'pending'] },
      { name: 'invitations_org_id_status_idx', columnNames: ['org_id', 'status', 'id'] },
      { name: 'invitations_expires_at_idx', columnNames: ['pending', 'expires_at'] },
    ],
  });
}

function idempotencyKeys(runner: QueryRunner): Table {
  const { engine, id, text, unicode, number, time } = columnsFor(runner);
  return new Table({
    name: 'idempotency_keys',
    engine,
    columns: [
      id('user_id', PRIMARY),
      text('key_hash', 43, PRIMARY),
      text('fingerprint', 43),
      number('status'),
      unicode('body', 2000),
      time('expires_at'),
    ],
    indices: [
      { name: 'idempotency_keys_expires_at_idx', columnNames: ['expires_at'] },
      { name: 'idempotency_keys_user_id_expires_at_idx', columnNames: ['user_id', 'expires_at'] },
    ],
  });
}
