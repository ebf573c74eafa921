import { type MigrationInterface, type QueryRunner, Table } from 'typeorm';
import { columnsFor, isMysql, PRIMARY } from '../columns.js';
import { addColumns, addIndex, dropColumns, dropIndex } from '../repeatable-steps.js';

const EVENTS = 'events';
const PENDING = 'pending';
const INDEX = { name: 'events_pending_id_idx', columnNames: [PENDING, 'id'] };

// Events from before the feed keep NULL, and every later one gets the default, whichever version of the service writes
// it: instances of the one before do not know the column.
export class Feed1796428800000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    if (isMysql(runner)) {
      await addColumns(runner, EVENTS, { [PENDING]: 'tinyint NULL' });
      await runner.query(`ALTER TABLE ${EVENTS} ALTER COLUMN ${PENDING} SET DEFAULT 1`);
      await addIndex(runner, EVENTS, INDEX);
    } else {
      // SQLite cannot set a default later. All is one transaction there.
      await addColumns(runner, EVENTS, { [PENDING]: 'tinyint DEFAULT (1)' });
      await runner.query(`UPDATE ${EVENTS} SET ${PENDING} = NULL`);
      await addIndex(runner, EVENTS, { ...INDEX, where: `"${PENDING}" IS NOT NULL` });
    }
    await runner.createTable(feed(runner), true, true, true);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('feed', true);
    await dropIndex(runner, EVENTS, INDEX.name);
    await dropColumns(runner, EVENTS, [PENDING]);
  }
}

function feed(runner: QueryRunner): Table {
  const { engine, id, time: bigint } = columnsFor(runner);
  return new Table({
    name: 'feed',
    engine,
    columns: [bigint('seq', PRIMARY), id('event_id')],
    indices: [{ name: 'feed_event_id_key', columnNames: ['event_id'], isUnique: true }],
  });
}
