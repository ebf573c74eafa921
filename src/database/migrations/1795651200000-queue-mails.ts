import { type MigrationInterface, type QueryRunner, Table, TableColumn } from 'typeorm';

export class QueueMails1795651200000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.createTable(mails(runner), true, true, true);
    await runner.createTable(mailCodes(runner), true, true, true);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('mail_codes', true);
    await runner.dropTable('mails', true);
  }
}

function mails(runner: QueryRunner): Table {
  const { table, text, number } = columnsOf(runner);
  return new Table({
    ...table,
    name: 'mails',
    columns: [
      text('id', 36, { isPrimary: true }),
      text('kind', 24),
      text('recipient', 254),
      text('code_id', 36, { isNullable: true }),
      number('code_number', 'integer', { isNullable: true }),
      text('state', 8),
      number('created_at', 'bigint'),
      number('next_attempt_at', 'bigint'),
      number('attempts', 'integer', { default: 0 }),
      number('expires_at', 'bigint', { isNullable: true }),
      number('ended_at', 'bigint', { isNullable: true }),
      text('last_error', 100, { isNullable: true }),
    ],
    indices: [
      { name: 'mails_state_next_attempt_at_idx', columnNames: ['state', 'next_attempt_at'] },
      { name: 'mails_state_id_idx', columnNames: ['state', 'id'] },
      { name: 'mails_recipient_id_idx', columnNames: ['recipient', 'id'] },
    ],
  });
}

function mailCodes(runner: QueryRunner): Table {
  const { table, text, number } = columnsOf(runner);
  return new Table({
    ...table,
    name: 'mail_codes',
    columns: [
      text('id', 36, { isPrimary: true }),
      text('purpose', 24),
      text('subject', 254),
      text('email', 254),
      number('auth_epoch', 'integer', { isNullable: true }),
      number('code_number', 'integer', { default: 0 }),
      number('tries', 'integer', { default: 0 }),
      number('handed_out', 'integer', { default: 0 }),
      number('expires_at', 'bigint', { default: 0 }),
      number('purge_at', 'bigint'),
    ],
    indices: [
      { name: 'mail_codes_subject_key', columnNames: ['purpose', 'subject'], isUnique: true },
      { name: 'mail_codes_purge_at_idx', columnNames: ['purge_at'] },
    ],
  });
}

function columnsOf(runner: QueryRunner) {
  const mysql = runner.dataSource.options.type !== 'better-sqlite3';
  const ascii = mysql ? { charset: 'ascii', collation: 'ascii_bin' } : {};
  return {
    table: { engine: mysql ? 'InnoDB' : undefined },
    text: (name: string, length: number, more: object = {}) =>
      new TableColumn({ name, type: 'varchar', length: String(length), ...ascii, ...more }),
    number: (name: string, type: 'integer' | 'bigint', more: object = {}) =>
      new TableColumn({ name, type, ...more }),
  };
}
