import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columnsFor, OPTIONAL } from '../columns.js';
import { addIndex, dropIndex, tableOf } from '../repeatable-steps.js';

const MEMBERS = 'members';
const BEFORE = { name: 'members_org_id_joined_at_idx', columnNames: ['org_id', 'joined_at', 'user_id'] };
const AFTER = {
  name: 'members_list_idx',
  columnNames: ['org_id', 'joined_at', 'user_id', 'role', 'email'],
};

/** Copies the email into the membership, so that one index covers lists. Every step can be repeated. */
export class ListMembersByIndex1795392000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await addEmail(runner);
    await addIndex(runner, MEMBERS, AFTER);
    await dropIndex(runner, MEMBERS, BEFORE.name);
  }

  async down(runner: QueryRunner): Promise<void> {
    await addIndex(runner, MEMBERS, BEFORE);
    await dropIndex(runner, MEMBERS, AFTER.name);
    if ((await tableOf(runner, MEMBERS)).findColumnByName('email')) await runner.dropColumn(MEMBERS, 'email');
  }
}

async function addEmail(runner: QueryRunner): Promise<void> {
  const { text } = columnsFor(runner);
  const present = (await tableOf(runner, MEMBERS)).findColumnByName('email');
  if (present && !present.isNullable) return;
  if (!present) await runner.addColumn(MEMBERS, text('email', 254, OPTIONAL));
  await runner.query(
    'UPDATE members SET email = (SELECT u.email FROM users u WHERE u.id = members.user_id) WHERE email IS NULL',
  );
  await runner.changeColumn(MEMBERS, 'email', text('email', 254));
}
