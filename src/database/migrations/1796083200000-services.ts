import { type MigrationInterface, type QueryRunner, Table } from 'typeorm';
import { columnsFor, isMysql, OPTIONAL, PRIMARY } from '../columns.js';
import { addColumns, dropColumns } from '../repeatable-steps.js';

const SESSIONS = 'sessions';

// Columns of sessions are NULL and last, which MySQL and MariaDB add without a copy of the table. They have no default: a
// session that an older instance opens during the upgrade has to be told from one that was opened by a password alone.
export class Services1796083200000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const table of tables(runner)) await runner.createTable(table, true, true, true);
    await addColumns(runner, SESSIONS, columns(runner));
  }

  async down(runner: QueryRunner): Promise<void> {
    await dropColumns(runner, SESSIONS, Object.keys(columns(runner)));
    for (const table of tables(runner).toReversed()) await runner.dropTable(table, true);
  }
}

function tables(runner: QueryRunner): Table[] {
  const { engine, id, text, number, time } = columnsFor(runner);
  return [
    new Table({
      name: 'services',
      engine,
      columns: [
        text('name', 40, PRIMARY),
        text('allow', 200),
        number('epoch', { default: 0 }),
        number('revision', { default: 1 }),
        time('created_at'),
        time('disabled_at', OPTIONAL),
        time('removed_at', OPTIONAL),
      ],
    }),
    new Table({
      name: 'service_secrets',
      engine,
      columns: [
        id('id', PRIMARY),
        text('service', 40),
        text('hash', 43),
        time('created_at'),
        time('last_used_at', OPTIONAL),
        time('revoked_at', OPTIONAL),
      ],
      indices: [
        { name: 'service_secrets_service_idx', columnNames: ['service'] },
        { name: 'service_secrets_hash_key', columnNames: ['hash'], isUnique: true },
      ],
      foreignKeys: [
        {
          name: 'service_secrets_service_fkey',
          columnNames: ['service'],
          referencedTableName: 'services',
          referencedColumnNames: ['name'],
          onDelete: 'NO ACTION',
          onUpdate: 'NO ACTION',
        },
      ],
    }),
  ];
}

/** No index: sessions are never looked for by their service, whose epoch ends them. */
function columns(runner: QueryRunner): Record<string, string> {
  const ascii = isMysql(runner) ? ' CHARACTER SET ascii COLLATE ascii_bin' : '';
  return {
    amr: `varchar(40)${ascii} NULL`,
    service: `varchar(40)${ascii} NULL`,
    bound_epoch: 'integer NULL',
  };
}
