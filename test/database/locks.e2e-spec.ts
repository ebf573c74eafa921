import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { acquireTimeoutError } from '../../src/database/transactions/database-errors.js';
import { MysqlHost } from '../../src/database/mysql/mysql-host.js';
import { Org } from '../../src/orgs/state/org.entity.js';
import { OrgsRepository } from '../../src/orgs/state/orgs.repository.js';
import { times } from '../support/at-once.js';
import { type DataLayer, openDataLayer } from '../support/data-source.js';
import { engine } from '../support/engine.js';
import { holdInnodbRows } from '../support/held-rows.js';
import { anUnknownId } from '../support/personas.js';

/** more than one statement locks */
const MANY = 501;
const IS_FREE = 'SELECT id FROM orgs WHERE id = ? FOR UPDATE NOWAIT';

// SQLite has one connection and one lock.
describe.runIf(engine === 'mariadb')('on a server', () => {
  let data: DataLayer;

  beforeAll(async () => {
    data = await openDataLayer();
  });
  afterAll(() => data.close());

  it('a connection that comes after its waiter was refused serves the next one', async () => {
    const { hostname: host, port, username: user, pathname } = new URL(data.db.url);
    const options = { host, port: Number(port), user, database: pathname.slice(1), connectionLimit: 2 };
    const pool = new MysqlHost(options, []);
    const held = await Promise.all(times(2, () => pool.acquire(5000)));
    const refusals = await Promise.all(times(2, () => pool.acquire(1).catch((error: unknown) => error)));
    expect(refusals).toEqual(times(2, () => acquireTimeoutError()));
    for (const connection of held) connection.release();

    const next = await Promise.all(times(2, () => pool.acquire(5000)));
    for (const connection of next) connection.release();
    await pool.close();
  });

  it('a transaction that goes silent is ended after seconds, not hours', async () => {
    const [row] = await data.dataSource.query<{ seconds: number }[]>(
      'SELECT @@SESSION.idle_transaction_timeout AS seconds',
    );
    expect(row).toEqual({ seconds: 5 });
  });

  it('whoever locks many organizations, in whatever order they are given, takes the first one first', async () => {
    const orgs = new OrgsRepository(data.dataSource.getRepository(Org));
    const ids = times(MANY, () => anUnknownId()).toSorted();
    await data.db.query(
      `INSERT INTO orgs (id, name, revision, created_at) VALUES ${ids.map((id) => `('${id}', 'x', 1, 1)`).join()}`,
    );
    const lock = (given: readonly string[]): Promise<void> =>
      data.transactions.run({ principal: 'ada' }, (transaction) => orgs.raiseRevisions(transaction, given));
    const held = await holdInnodbRows(data);
    await held.write('UPDATE orgs SET revision = revision + 1 WHERE id = ?', [ids[0]!]);
    const waiting = Promise.all([lock(ids), lock(ids.toReversed())]);
    await held.untilTwoWait();
    const last = ids.at(-1)!;
    const [found] = await Promise.allSettled([
      data.transactions.run({ principal: 'ada' }, (transaction) => transaction.read(IS_FREE, [last])),
    ]);
    await held.rollback();
    await waiting;

    expect(found).toEqual({ status: 'fulfilled', value: [{ id: last }] });
  });
});
