import { type QueryRunner, type Table } from 'typeorm';
import { columnsFor, foreignKey, index, isMysql, OPTIONAL, PRIMARY, unique } from './columns.js';

export function orgs(runner: QueryRunner): Table[] {
  const { table, id, text, unicode, number, time } = columnsFor(runner);
  return [
    table(
      'orgs',
      id('id', PRIMARY),
      unicode('name', 100),
      number('revision'),
      time('created_at'),
      time('deleted_at', OPTIONAL),
      time('purge_at', OPTIONAL),
      time('purge_began_at', OPTIONAL),
      unicode('deleted_name', 100, OPTIONAL),
      index('orgs_purge_at_idx', 'purge_at'),
      index('orgs_name_idx', 'name', 'id'),
      index('orgs_deleted_name_idx', 'deleted_name', 'id'),
    ),
    table(
      'members',
      id('org_id', PRIMARY),
      id('user_id', PRIMARY),
      text('role', 6),
      time('joined_at'),
      text('email', 254),
      index('members_list_idx', 'org_id', 'joined_at', 'user_id', 'role', 'email'),
      index('members_org_id_role_email_idx', 'org_id', 'role', 'email'),
      index('members_user_id_joined_at_idx', 'user_id', 'joined_at', 'org_id'),
      foreignKey('members_org_id_fkey', 'org_id', 'orgs'),
      foreignKey('members_user_id_fkey', 'user_id', 'users'),
    ),
    table(
      'invitations',
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
      unique('invitations_org_id_email_key', 'org_id', 'email', 'pending'),
      index('invitations_email_idx', 'email', 'pending', 'id'),
      index('invitations_invited_by_idx', 'org_id', 'invited_by', 'pending'),
      index('invitations_org_id_status_idx', 'org_id', 'status', 'id'),
      index('invitations_expires_at_idx', 'pending', 'expires_at'),
    ),
    table(
      'idempotency_keys',
      id('user_id', PRIMARY),
      text('key_hash', 43, PRIMARY),
      text('fingerprint', 43),
      number('status'),
      unicode('body', 2000),
      time('expires_at'),
      index('idempotency_keys_expires_at_idx', 'expires_at'),
      index('idempotency_keys_user_id_expires_at_idx', 'user_id', 'expires_at'),
    ),
  ];
}

export function events(runner: QueryRunner): Table[] {
  const { table, id, text, unicode, number, time, flag } = columnsFor(runner);
  const pending = index('events_pending_id_idx', 'pending', 'id');
  if (!isMysql(runner)) pending.where = '"pending" IS NOT NULL';
  return [
    table(
      'events',
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
      flag('pending', { ...OPTIONAL, default: 1 }),
      index('events_org_id_org_revision_idx', 'org_id', 'org_revision', 'id'),
      index('events_org_id_user_id_idx', 'org_id', 'user_id', 'org_revision', 'id'),
      index('events_user_id_idx', 'user_id', 'id'),
      pending,
    ),
    table('feed', time('seq', PRIMARY), id('event_id'), unique('feed_event_id_key', 'event_id')),
  ];
}

export function mails(runner: QueryRunner): Table[] {
  const { table, id, text, number, time } = columnsFor(runner);
  return [
    table(
      'mails',
      id('id', PRIMARY),
      text('kind', 24),
      text('recipient', 254),
      id('code_id', OPTIONAL),
      number('code_number', OPTIONAL),
      text('state', 8),
      time('created_at'),
      time('next_attempt_at'),
      number('attempts', { default: 0 }),
      time('expires_at', OPTIONAL),
      time('ended_at', OPTIONAL),
      text('last_error', 100, OPTIONAL),
      id('org_id', OPTIONAL),
      id('sender_id', OPTIONAL),
      number('priority', { default: 0 }),
      time('turn_at', { default: 0 }),
      index(
        'mails_state_priority_next_attempt_at_turn_at_idx',
        'state',
        'priority',
        'next_attempt_at',
        'turn_at',
      ),
      index('mails_state_id_idx', 'state', 'id'),
      index('mails_recipient_id_idx', 'recipient', 'id'),
      index('mails_org_id_id_idx', 'org_id', 'id'),
      index('mails_sender_id_id_idx', 'sender_id', 'id'),
    ),
    table(
      'email_codes',
      id('id', PRIMARY),
      text('purpose', 24),
      text('subject', 254),
      text('email', 254),
      number('auth_epoch', OPTIONAL),
      number('code_number', { default: 0 }),
      number('tries', { default: 0 }),
      number('handed_out', { default: 0 }),
      time('expires_at', { default: 0 }),
      time('purge_at'),
      id('user_id', OPTIONAL),
      unique('email_codes_subject_key', 'purpose', 'subject'),
      index('email_codes_purge_at_idx', 'purge_at'),
    ),
  ];
}
