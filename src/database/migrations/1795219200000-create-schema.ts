import {
  type MigrationInterface,
  type QueryRunner,
  Table,
  TableColumn,
  type TableColumnOptions,
} from 'typeorm';

/** Every step can be repeated, as MySQL commits each statement. */
export class CreateSchema1795219200000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const table of tables(runner)) await runner.createTable(table, true, true, true);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of tables(runner).toReversed()) await runner.dropTable(table, true);
  }
}

function tables(runner: QueryRunner): Table[] {
  const mysql = runner.dataSource.options.type !== 'better-sqlite3';
  const ascii = mysql ? { charset: 'ascii', collation: 'ascii_bin' } : {};
  const unicode = mysql ? { charset: 'utf8mb4', collation: 'utf8mb4_bin' } : {};
  const engine = mysql ? 'InnoDB' : undefined;

  const column = (options: TableColumnOptions): TableColumn => new TableColumn(options);
  const text = (name: string, length: number, more: Partial<TableColumnOptions> = {}): TableColumn =>
    column({ name, type: 'varchar', length: String(length), ...ascii, ...more });
  const id = (name: string, more: Partial<TableColumnOptions> = {}): TableColumn => text(name, 36, more);
  const time = (name: string, isNullable = false): TableColumn =>
    column({ name, type: 'bigint', isNullable });
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
      columns: [
        id('id', { isPrimary: true }),
        text('email', 254),
        text('password_hash', 255),
        time('created_at'),
      ],
      uniques: mysql ? [] : [{ name: 'users_email_key', columnNames: ['email'] }],
      indices: mysql ? [{ name: 'users_email_key', columnNames: ['email'], isUnique: true }] : [],
    }),
    new Table({
      name: 'sessions',
      engine,
      columns: [
        id('id', { isPrimary: true }),
        id('user_id'),
        time('auth_time'),
        time('created_at'),
        time('expires_at'),
        time('revoked_at', true),
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
        text('hash', 43, { isPrimary: true }),
        id('session_id'),
        text('code_challenge', 43, { isNullable: true }),
        time('created_at'),
        time('expires_at'),
        time('consumed_at', true),
        id('granted_session_id', { isNullable: true }),
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
      columns: [
        id('id', { isPrimary: true }),
        text('name', 100, unicode),
        column({ name: 'revision', type: 'integer' }),
        time('created_at'),
      ],
    }),
    new Table({
      name: 'members',
      engine,
      columns: [
        id('org_id', { isPrimary: true }),
        id('user_id', { isPrimary: true }),
        text('role', 6),
        time('joined_at'),
      ],
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
