import type { MigrationInterface, QueryRunner } from 'typeorm';
import { isMysql } from '../columns.js';
import { addColumns, addIndex, dropColumns, dropIndex } from '../repeatable-steps.js';

const SESSIONS = 'sessions';
const ALIVE = {
  name: 'sessions_user_id_alive_idx',
  columnNames: ['user_id', 'auth_epoch', 'revoked_at', 'expires_at'],
};

const CODES = 'authorization_codes';
const CODES_BEFORE = { name: 'authorization_codes_session_id_idx', columnNames: ['session_id'] };
const CODES_AFTER = {
  name: 'authorization_codes_session_id_created_at_idx',
  columnNames: ['session_id', 'created_at'],
};

// The foreign key keeps the index of `user_id` alone: InnoDB checks it, and locks the user's row, with each update of the
// index that serves it, and refreshing updates `expires_at`. The wider index of codes is created first, as MySQL requires
// one that begins with the column of a foreign key.
export class BoundSessions1795910400000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await addColumns(runner, SESSIONS, columns(runner));
    await addIndex(runner, SESSIONS, ALIVE);
    await addIndex(runner, CODES, CODES_AFTER);
    await dropIndex(runner, CODES, CODES_BEFORE.name);
  }

  async down(runner: QueryRunner): Promise<void> {
    await addIndex(runner, CODES, CODES_BEFORE);
    await dropIndex(runner, CODES, CODES_AFTER.name);
    await dropIndex(runner, SESSIONS, ALIVE.name);
    await dropColumns(runner, SESSIONS, Object.keys(columns(runner)));
  }
}

function columns(runner: QueryRunner): Record<string, string> {
  const charset = isMysql(runner) ? ' CHARACTER SET utf8mb4 COLLATE utf8mb4_bin' : '';
  return { device_name: `varchar(60)${charset} NULL` };
}
