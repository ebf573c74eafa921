import { afterAll, describe, expect, it } from 'vitest';
import { SharedStatement } from '../../src/database/shared-statement.js';
import { isDatabaseUnavailable } from '../../src/database/transactions/database-errors.js';
import type { Transaction } from '../../src/database/transactions/transaction.js';
import { Org } from '../../src/orgs/state/org.entity.js';
import { openDataLayer } from '../support/data-source.js';
import { engine } from '../support/engine.js';

const ONE = 'SELECT 1 AS one';
const INSERT_ORG = 'INSERT INTO orgs (id, name, revision, created_at) VALUES (?, ?, 1, 1)';

const data = await openDataLayer({ DATABASE_POOL_SIZE: '2' });
afterAll(() => data.close());

describe('a transaction', () => {
  const namesOf = async (name: string) =>
    (await data.db.query('SELECT name FROM orgs WHERE name = ?', [name])).length;

  async function anOpenTransaction(): Promise<{ end: (how: 'commit' | 'rollback') => Promise<unknown> }> {
    const opened = Promise.withResolvers<void>();
    const told = Promise.withResolvers<'commit' | 'rollback'>();
    const done = data.transactions.run({ principal: 'ada' }, async (transaction) => {
      await transaction.read(ONE, []);
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
    [
      'a second transaction',
      () => data.transactions.run({ principal: 'ada' }, (inner) => inner.read(ONE, [])),
    ],
  ])('refuses %s inside itself at once, and says what to use', async (_what, useOutside) => {
    await expect(data.transactions.run({ principal: 'ada' }, useOutside)).rejects.toThrow(
      'Inside a transaction use the Transaction that was passed',
    );

    expect(await data.dataSource.query(ONE)).toEqual([{ one: 1 }]);
  });

  it('refuses a batched look-up inside it, even while another query runs', async () => {
    const refused = data.transactions.run({ principal: 'ada' }, async (transaction) => {
      await transaction.read(ONE, []);
      return lookUps.run('inside');
    });
    const outside = lookUps.run('outside');

    await expect(refused).rejects.toThrow('Inside a transaction');
    await expect(outside).resolves.toBe('outside');
  });

  it('lets work that it started use the database after it has ended', async () => {
    const ended = Promise.withResolvers<void>();
    let later: Promise<unknown> = Promise.resolve();
    await data.transactions.run({ principal: 'ada' }, () => {
      later = ended.promise.then(() => Promise.all([data.dataSource.query(ONE), lookUps.run('a')]));
      return Promise.resolve();
    });
    ended.resolve();

    await expect(later).resolves.toEqual([[{ one: 1 }], 'a']);
  });

  it('cannot be used after it has ended', async () => {
    let kept: Transaction | undefined;
    await data.transactions.run({ principal: 'ada' }, (transaction) => {
      kept = transaction;
      return Promise.resolve();
    });

    await expect(kept!.write(INSERT_ORG, ['late', 'late'])).rejects.toThrow('The transaction has ended');
    await expect(kept!.read(ONE, [])).rejects.toThrow('The transaction has ended');
    expect(await namesOf('late')).toBe(0);
  });

  it('rolls back everything when it fails, and reports why', async () => {
    const failed = data.transactions.run({ principal: 'ada' }, async (transaction) => {
      await transaction.write(INSERT_ORG, ['undone', 'undone']);
      throw new Error('changed its mind');
    });

    await expect(failed).rejects.toThrow('changed its mind');
    expect(await namesOf('undone')).toBe(0);
  });

  it('does not undo the writes of others when it is rolled back', async () => {
    const transaction = await anOpenTransaction();
    const inserted = data.dataSource.query(INSERT_ORG, ['outside', 'outside']);
    await transaction.end('rollback');
    await inserted;

    expect(await namesOf('outside')).toBe(1);
  });

  it('does not make others wait for ever', async () => {
    const transaction = await anOpenTransaction();
    const another = () => data.transactions.run({ principal: 'ada' }, (second) => second.read(ONE, []));
    // On a server, single statements have connections of their own.
    const statements = engine === 'sqlite' ? [data.dataSource.query(ONE), data.dataSource.query(ONE)] : [];
    const waiting = [another(), another(), ...statements];
    const outcomes = await Promise.allSettled(waiting);
    await transaction.end('commit');

    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'POOL_ACQUIRE_TIMEOUT' } });
      expect(isDatabaseUnavailable((outcome as PromiseRejectedResult).reason)).toBe(true);
    }
    expect(await data.dataSource.query(ONE)).toEqual([{ one: 1 }]);
  });
});
