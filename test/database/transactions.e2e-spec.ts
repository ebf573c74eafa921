import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { MysqlHost } from '../../src/database/mysql/mysql-pool.js';
import type { Transaction } from '../../src/database/transactions/transactions.js';
import { SharedStatement } from '../../src/database/shared-statement.js';
import {
  acquireTimeoutError,
  isDatabaseUnavailable,
} from '../../src/database/transactions/database-errors.js';
import { Org } from '../../src/orgs/state/org.entity.js';
import { OrgsRepository } from '../../src/orgs/state/orgs.repository.js';
import { atOnce, times } from '../support/at-once.js';
import { type DataLayer, openDataLayer } from '../support/data-source.js';
import { engine } from '../support/engine.js';
import { holdInnodbRows, holdRows } from '../support/held-rows.js';
import { anAccount, anOrg, anOrgOf, anUnknownId, type Cast } from '../support/personas.js';
import { insertRows } from '../support/rows.js';
import { type Service, startService } from '../support/service.js';

const ONE = 'SELECT 1 AS one';
const INSERT_ORG = 'INSERT INTO orgs (id, name, revision, created_at) VALUES (?, ?, 1, 1)';

/** more than one statement locks */
const MANY = 501;
const IS_FREE = 'SELECT id FROM orgs WHERE id = ? FOR UPDATE NOWAIT';

const data = await openDataLayer({ DATABASE_POOL_SIZE: '2' });
const run = <T>(work: (tx: Transaction) => Promise<T>) => data.transactions.run({ principal: 'ada' }, work);
afterAll(() => data.close());

it('the schema has foreign keys to primary keys only, by which Galera orders writes', () => {
  const keys = data.dataSource.entityMetadatas.flatMap(({ foreignKeys }) => foreignKeys);
  const others = keys.filter((key) => key.referencedColumns.some(({ isPrimary }) => !isPrimary));
  expect(keys.length).toBeGreaterThan(3);
  expect(others.map(({ name }) => name)).toEqual([]);
});

describe('a transaction', () => {
  const namesOf = async (name: string) =>
    (await data.db.query('SELECT name FROM orgs WHERE name = ?', [name])).length;

  async function anOpenTransaction(): Promise<{ end: (how: 'commit' | 'rollback') => Promise<unknown> }> {
    const opened = Promise.withResolvers<void>();
    const told = Promise.withResolvers<'commit' | 'rollback'>();
    const done = run(async (tx) => {
      await tx.read(ONE, []);
      opened.resolve();
      if ((await told.promise) === 'rollback') throw new Error('told to');
    });
    const settled = done.catch((error: unknown) => error);
    await opened.promise;
    return {
      end: (how) => {
        told.resolve(how);
        return settled;
      },
    };
  }

  const lookUps = new SharedStatement<string, string>(async (keys) => {
    await data.dataSource.query(ONE);
    return keys;
  });

  it.each<[string, () => Promise<unknown>]>([
    ['the data source', () => data.dataSource.query(ONE)],
    ['a repository', () => data.dataSource.getRepository(Org).find()],
    ['a statement in a repository', () => data.dataSource.getRepository(Org).query(ONE)],
    ['a statement by itself', () => data.transactions.write(ONE, [])],
    ['a batched look-up', () => lookUps.run('a')],
    ['a second transaction', () => run((inner) => inner.read(ONE, []))],
  ])('refuses %s inside itself at once, and says what to use', async (_what, useOutside) => {
    await expect(run(useOutside)).rejects.toThrow('Inside a transaction use the Transaction that was passed');
    expect(await data.dataSource.query(ONE)).toEqual([{ one: 1 }]);
  });

  it('refuses a batched look-up inside it, even while another query runs', async () => {
    const refused = run(async (tx) => {
      await tx.read(ONE, []);
      return lookUps.run('inside');
    });
    const outside = lookUps.run('outside');
    await expect(refused).rejects.toThrow('Inside a transaction');
    await expect(outside).resolves.toBe('outside');
  });

  it('lets work that it started use the database after it has ended', async () => {
    const ended = Promise.withResolvers<void>();
    let later: Promise<unknown> = Promise.resolve();
    await run(() => {
      later = ended.promise.then(() => Promise.all([data.dataSource.query(ONE), lookUps.run('a')]));
      return Promise.resolve();
    });
    ended.resolve();
    await expect(later).resolves.toEqual([[{ one: 1 }], 'a']);
  });

  it('cannot be used after it has ended', async () => {
    let kept: Transaction | undefined;
    await run((tx) => {
      kept = tx;
      return Promise.resolve();
    });
    await expect(kept!.write(INSERT_ORG, ['late', 'late'])).rejects.toThrow('The transaction has ended');
    await expect(kept!.read(ONE, [])).rejects.toThrow('The transaction has ended');
    expect(await namesOf('late')).toBe(0);
  });

  it('rolls back everything when it fails, and reports why', async () => {
    const failed = run(async (tx) => {
      await tx.write(INSERT_ORG, ['undone', 'undone']);
      throw new Error('changed its mind');
    });
    await expect(failed).rejects.toThrow('changed its mind');
    expect(await namesOf('undone')).toBe(0);
  });

  it('does not undo the writes of others when it is rolled back', async () => {
    const tx = await anOpenTransaction();
    const inserted = data.dataSource.query(INSERT_ORG, ['outside', 'outside']);
    await tx.end('rollback');
    await inserted;
    expect(await namesOf('outside')).toBe(1);
  });

  it('does not make others wait for ever', async () => {
    const tx = await anOpenTransaction();
    const another = () => run((second) => second.read(ONE, []));
    // On a server, single statements have connections of their own.
    const statements = engine === 'sqlite' ? [data.dataSource.query(ONE), data.dataSource.query(ONE)] : [];
    const outcomes = await Promise.allSettled([another(), another(), ...statements]);
    await tx.end('commit');

    for (const outcome of outcomes)
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'POOL_ACQUIRE_TIMEOUT' } });
    expect(isDatabaseUnavailable((outcomes[0] as PromiseRejectedResult).reason)).toBe(true);
    expect(await data.dataSource.query(ONE)).toEqual([{ one: 1 }]);
  });
});

// SQLite has one connection and one lock.
describe.runIf(engine === 'mariadb')('on a server', () => {
  let layer: DataLayer;

  beforeAll(async () => {
    layer = await openDataLayer();
  });
  afterAll(() => layer.close());

  it('a connection that comes after its waiter was refused serves the next one', async () => {
    const { hostname: host, port, username: user, pathname } = new URL(layer.db.url);
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
    const sql = 'SELECT @@SESSION.idle_transaction_timeout AS seconds';
    expect(await layer.dataSource.query(sql)).toEqual([{ seconds: 5 }]);
  });

  it('whoever locks many organizations, in whatever order they are given, takes the first one first', async () => {
    const orgs = new OrgsRepository(layer.dataSource.getRepository(Org));
    const ids = times(MANY, () => anUnknownId()).toSorted();
    const rows = ids.map((id) => ({ id }));
    await insertRows(layer.db, 'orgs', rows);
    const lock = (given: readonly string[]): Promise<void> =>
      layer.transactions.run({ principal: 'ada' }, (tx) => orgs.raiseRevisions(tx, given));
    const held = await holdInnodbRows(layer);
    await held.write('UPDATE orgs SET revision = revision + 1 WHERE id = ?', [ids[0]!]);
    const waiting = Promise.all([lock(ids), lock(ids.toReversed())]);
    await held.untilWaiting(2);
    const last = ids.at(-1)!;
    const [found] = await Promise.allSettled([
      layer.transactions.run({ principal: 'ada' }, (tx) => tx.read(IS_FREE, [last])),
    ]);
    await held.rollback();
    await waiting;

    expect(found).toEqual({ status: 'fulfilled', value: [{ id: last }] });
  });
});

describe.runIf(engine === 'mariadb').each([
  { poolSize: 2, transactions: 1 },
  { poolSize: 3, transactions: 2 },
  { poolSize: 20, transactions: 15 },
])('with $transactions of $poolSize connections for transactions', ({ poolSize, transactions }) => {
  it('reads and readiness wait for none of the transactions that wait for a row', async () => {
    const service = await startService({ env: { DATABASE_POOL_SIZE: String(poolSize) } });
    onTestFinished(() => service.stop());
    const owners = await atOnce(times(2, () => () => anAccount(service)));
    const ownerOf = (index: number) => owners[index % 2]!;
    const orgs = await atOnce(times(transactions, (index) => () => anOrgOf(ownerOf(index))));
    const held = await holdRows(service);
    await held.write('UPDATE orgs SET revision = revision + 1');
    const changes = orgs.map(({ id }, index) => ownerOf(index).patch(`/api/orgs/${id}`, { name: 'Renamed' }));
    await held.untilWaiting(transactions);

    const answers = await atOnce(
      times(2 * poolSize, (index) => () => owners[0]!.get(index % 2 === 0 ? '/api/me' : '/health/ready')),
    );
    await held.untilWaiting(transactions);
    await held.rollback();

    expect(answers.map(({ status }) => status)).toEqual(Array(2 * poolSize).fill(200));
    expect((await Promise.all(changes)).map(({ status }) => status)).toEqual(Array(transactions).fill(200));
  });
});

describe.runIf(engine === 'mariadb')('with one connection for transactions and one for statements', () => {
  let service: Service;
  let cast: Cast;

  beforeAll(async () => {
    service = await startService({ env: { DATABASE_POOL_SIZE: '2', MAX_ORGS_PER_USER: '1' } });
    cast = await anOrg(service);
  });
  afterAll(() => service.stop());

  const connections = async () =>
    (await service.db.query('SELECT ID FROM information_schema.PROCESSLIST WHERE DB = DATABASE()')).length;
  const promote = () =>
    cast.owner.patch(`/api/orgs/${cast.org.id}/members/${cast.member.id}`, { role: 'admin' });

  it('a change that waits for a lock does not block statements that need none', async () => {
    const held = await holdRows(service);
    await held.write('UPDATE orgs SET revision = revision + 1 WHERE id = ?', [cast.org.id]);
    const waiting = promote();
    await held.untilOneWaits();
    const answer = await cast.member.get('/api/me');
    await held.rollback();
    expect(answer.status).toBe(200);
    expect((await waiting).status).toBe(200);
  });

  it('many requests of both kinds open no third', async () => {
    const own = await connections();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? promote() : cast.member.get('/api/me'))),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(await connections()).toBe(own);
  });

  it('a transaction that was refused leaves no transaction open', async () => {
    const refused = await cast.owner.post('/api/orgs', { name: 'One too many' });

    const open = await service.db.query(
      `SELECT t.trx_id FROM information_schema.INNODB_TRX t
       JOIN information_schema.PROCESSLIST p ON p.ID = t.trx_mysql_thread_id WHERE p.DB = DATABASE()`,
    );

    expect(refused.body).toMatchObject({ code: 'too_many_orgs' });
    expect(open).toEqual([]);
  });
});
