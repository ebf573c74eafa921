import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { engine } from '../support/engine.js';
import { type HeldRows, holdRows } from '../support/held-rows.js';
import { anOrg, type Cast } from '../support/personas.js';
import { type Service, startService } from '../support/service.js';

// SQLite has one connection and one lock.
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
    const held: HeldRows = await holdRows(service);
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
