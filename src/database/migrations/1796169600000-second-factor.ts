import { type MigrationInterface, type QueryRunner, Table } from 'typeorm';
import { columnsFor, OPTIONAL, PRIMARY } from '../columns.js';
import { addColumns, dropColumns } from '../repeatable-steps.js';

const USERS = 'users';
const USER_COLUMNS = { second_factor_at: 'bigint NULL' };

// The new column of users is NULL and last, which MySQL and MariaDB add without a copy of the table. It repeats
// `second_factors.enabled_at`, because the lookups of a login and of a session read it with the user's row.
export class SecondFactor1796169600000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const table of tables(runner)) await runner.createTable(table, true, true, true);
    await addColumns(runner, USERS, USER_COLUMNS);
  }

  async down(runner: QueryRunner): Promise<void> {
    await dropColumns(runner, USERS, Object.keys(USER_COLUMNS));
    for (const table of tables(runner).toReversed()) await runner.dropTable(table, true);
  }
}

function tables(runner: QueryRunner): Table[] {
  const { engine, id, text, number, time } = columnsFor(runner);
  const ofUser = (name: string) => ({
    name,
    engine,
    foreignKeys: [
      {
        name: `${name}_user_id_fkey`,
        columnNames: ['user_id'],
        referencedTableName: USERS,
        referencedColumnNames: ['id'],
        onDelete: 'CASCADE',
        onUpdate: 'NO ACTION',
      },
    ],
  });
  return [
    new Table({
      ...ofUser('second_factors'),
      columns: [
        id('user_id', PRIMARY),
        text('secret', 200),
        time('last_step', { default: 0 }),
        time('enabled_at', OPTIONAL),
        time('pending_until', OPTIONAL),
      ],
    }),
    new Table({
      ...ofUser('second_factor_failures'),
      columns: [id('user_id', PRIMARY), text('scope', 9, PRIMARY), number('count'), time('since')],
    }),
    new Table({
      ...ofUser('recovery_codes'),
      columns: [id('user_id', PRIMARY), text('hash', 43, PRIMARY), time('used_at', OPTIONAL)],
    }),
  ];
}
