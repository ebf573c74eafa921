import type { MigrationInterface, QueryRunner } from 'typeorm';
import { isMysql } from '../columns.js';
import { addColumns, addIndex, dropColumns, dropIndex } from '../repeatable-steps.js';

const INDEXES = {
  users: [{ name: 'users_disabled_email_idx', columnNames: ['disabled_email'] }],
  orgs: [
    { name: 'orgs_name_idx', columnNames: ['name', 'id'] },
    { name: 'orgs_deleted_name_idx', columnNames: ['deleted_name', 'id'] },
  ],
};

/** Disabled users and deleted organizations have an index of their own, in which the others have no text. */
export class OperatorsLists1796601600000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const of = (charset: string): string =>
      isMysql(runner) ? ` CHARACTER SET ${charset} COLLATE ${charset}_bin` : '';
    await addColumns(runner, 'users', { disabled_email: `varchar(254)${of('ascii')} NULL` });
    await addColumns(runner, 'orgs', { deleted_name: `varchar(100)${of('utf8mb4')} NULL` });
    await runner.query('UPDATE users SET disabled_email = email WHERE disabled_at IS NOT NULL');
    await runner.query('UPDATE orgs SET deleted_name = name WHERE deleted_at IS NOT NULL');
    for (const [table, indexes] of Object.entries(INDEXES)) {
      for (const index of indexes) await addIndex(runner, table, index);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const [table, indexes] of Object.entries(INDEXES)) {
      for (const { name } of indexes) await dropIndex(runner, table, name);
    }
    await dropColumns(runner, 'users', ['disabled_email']);
    await dropColumns(runner, 'orgs', ['deleted_name']);
  }
}
