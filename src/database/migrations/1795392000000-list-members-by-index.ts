import { type MigrationInterface, type QueryRunner, TableColumn, TableForeignKey } from 'typeorm';
import { addIndex, dropIndex, tableOf } from '../repeatable-steps.js';

const MEMBERS = 'members';
const USER_KEY = { name: 'users_id_email_key', columnNames: ['id', 'email'], isUnique: true };

const BEFORE = {
  foreignKey: { name: 'members_user_id_fkey', columnNames: ['user_id'], referencedColumnNames: ['id'] },
  indices: [
    { name: 'members_org_id_joined_at_idx', columnNames: ['org_id', 'joined_at', 'user_id'] },
    { name: 'members_user_id_joined_at_idx', columnNames: ['user_id', 'joined_at', 'org_id'] },
  ],
};
const AFTER = {
  foreignKey: {
    name: 'members_user_id_email_fkey',
    columnNames: ['user_id', 'email'],
    referencedColumnNames: ['id', 'email'],
    onUpdate: 'CASCADE',
  },
  indices: [
    { name: 'members_list_idx', columnNames: ['org_id', 'joined_at', 'user_id', 'role', 'email'] },
    { name: 'members_user_id_email_idx', columnNames: ['user_id', 'email', 'joined_at', 'org_id'] },
  ],
};

/**
 * Copies the e-mail into the membership, so that one index covers lists. Every step can be repeated, as MySQL
 * commits each statement. The new foreign key follows the removal of the old one: on SQLite TypeORM cannot
 * tell them apart.
 */
export class ListMembersByIndex1795392000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await addIndex(runner, 'users', USER_KEY);
    await addEmail(runner);
    for (const index of AFTER.indices) await addIndex(runner, MEMBERS, index);
    await dropForeignKey(runner, BEFORE.foreignKey.name);
    await addForeignKey(runner, AFTER.foreignKey);
    for (const { name } of BEFORE.indices) await dropIndex(runner, MEMBERS, name);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const index of BEFORE.indices) await addIndex(runner, MEMBERS, index);
    await dropForeignKey(runner, AFTER.foreignKey.name);
    await addForeignKey(runner, BEFORE.foreignKey);
    for (const { name } of AFTER.indices) await dropIndex(runner, MEMBERS, name);
    if ((await tableOf(runner, MEMBERS)).findColumnByName('email')) await runner.dropColumn(MEMBERS, 'email');
    await dropIndex(runner, 'users', USER_KEY.name);
  }
}

/** NULL until every row is filled. */
async function addEmail(runner: QueryRunner): Promise<void> {
  const column = (isNullable: boolean): TableColumn =>
    new TableColumn({ name: 'email', type: 'varchar', length: '254', isNullable, ...collation(runner) });

  const present = (await tableOf(runner, MEMBERS)).findColumnByName('email');
  if (present && !present.isNullable) return;
  if (!present) await runner.addColumn(MEMBERS, column(true));
  await runner.query(
    'UPDATE members SET email = (SELECT u.email FROM users u WHERE u.id = members.user_id) WHERE email IS NULL',
  );
  await runner.changeColumn(MEMBERS, 'email', column(false));
}

async function addForeignKey(
  runner: QueryRunner,
  key: { name: string; columnNames: string[]; referencedColumnNames: string[]; onUpdate?: string },
): Promise<void> {
  const { foreignKeys } = await tableOf(runner, MEMBERS);
  if (foreignKeys.some(({ name }) => name === key.name)) return;
  const foreignKey = { onUpdate: 'NO ACTION', ...key, referencedTableName: 'users', onDelete: 'CASCADE' };
  await runner.createForeignKey(MEMBERS, new TableForeignKey(foreignKey));
}

async function dropForeignKey(runner: QueryRunner, key: string): Promise<void> {
  const { foreignKeys } = await tableOf(runner, MEMBERS);
  if (foreignKeys.some(({ name }) => name === key)) await runner.dropForeignKey(MEMBERS, key);
}

function collation(runner: QueryRunner): { charset?: string; collation?: string } {
  return runner.dataSource.options.type === 'better-sqlite3'
    ? {}
    : { charset: 'ascii', collation: 'ascii_bin' };
}
