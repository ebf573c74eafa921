import { afterAll, describe, expect, it } from 'vitest';
import { LoginTraces } from '../../src/auth/logins/login-traces.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { times } from '../support/at-once.js';
import { aCleanUp } from '../support/clean-up.js';
import { openDataLayer } from '../support/data-source.js';
import { recordStatements } from '../support/executed-statements.js';
import { holdRows } from '../support/held-rows.js';
import { anOperator } from '../support/operators.js';
import {
  type Account,
  anAccount,
  anEmail,
  anUnknownId,
  aPassword,
  logIn,
  logInAmongMany,
} from '../support/personas.js';
import { insertRow } from '../support/rows.js';
import { aChallenge, protect, secondStep } from '../support/second-factor.js';
import { type Service, startCluster, startSharedCluster } from '../support/service.js';
import { wired } from '../support/wired.js';

const DAY_MS = 86_400_000;
/** An instance notes logins every few seconds. */
const PAUSE_MS = 250;

interface Trace {
  lastLoginAt: string | null;
  failedLogins: { count: number; lastAt: string | null; lastIp: string | null };
}

const cluster = await startSharedCluster();
afterAll(() => cluster.stop());
const { db, instances } = cluster;
const [service, here = service, there = here] = instances as [Service, ...Service[]];
const operator = await anOperator(service);

const from = (address: string, at = service) => ({
  anyone: at.anyone.with({ 'x-forwarded-for': address }),
});
const fail = async ({ email }: Pick<Account, 'email'>, at = service, address = '203.0.113.9') =>
  expect((await logInAmongMany(from(address, at), { email, password: aPassword() })).status).toBe(401);
const succeed = async (account: Account, at = service) => expect((await logIn(at, account)).status).toBe(200);

async function traceOf({ id }: Pick<Account, 'id'>): Promise<Trace> {
  const { body } = await operator.get<{ user: Trace }>(`/api/operators/users/${id}`);
  const { lastLoginAt, failedLogins } = body.user;
  return { lastLoginAt, failedLogins };
}

/** Waits until the login after the failures, or the failure, is noted. */
const untilTraced = (account: Account, isTraced: (trace: Trace) => boolean): Promise<Trace> =>
  waitFor(
    'the logins are noted',
    hangTimeoutMs(),
    async () => {
      const trace = await traceOf(account);
      return isTraced(trace) && trace;
    },
    PAUSE_MS,
  );

const untilFailed = async (account: Account, count: number) =>
  (await untilTraced(account, ({ failedLogins }) => failedLogins.count >= count)).failedLogins;

// Those that mostly wait for the notes run at the same time.
describe('the trace of logins', () => {
  it.concurrent('has the failures since the last login, of all instances and of no time before', async () => {
    const ada = await anAccount(service, 'ada');
    for (const at of [service, here, there]) await fail(ada, at);
    await succeed(ada, there);
    const before = new Date().toISOString();
    await fail(ada, here);
    await fail(ada, service, '198.51.100.7');
    expect(await untilFailed(ada, 2)).toEqual({
      count: 2,
      lastAt: expect.stringMatching(/Z$/) as string,
      lastIp: '198.51.100.7',
    });
    const { lastLoginAt, failedLogins } = await traceOf(ada);
    expect(failedLogins.lastAt! >= before).toBe(true);
    expect(lastLoginAt! <= before).toBe(true);
    await succeed(ada, here);
    const afterwards = await untilTraced(ada, ({ failedLogins: { count } }) => count === 0);
    expect(afterwards.failedLogins).toEqual({ count: 0, lastAt: null, lastIp: null });
    expect(afterwards.lastLoginAt! > lastLoginAt!).toBe(true);
  });

  it.concurrent('counts a wrong code of the second step, and a login while disabled, but no first step', async () => {
    const { account: ada, app } = await protect(service, await anAccount(service, 'ada'));
    const challenge = await aChallenge(service, ada);
    expect((await secondStep(service, challenge, app.wrong())).status).toBe(400);
    expect((await secondStep(service, challenge, 'no code')).status).toBe(400);
    await untilFailed(ada, 2);
    await db.query('UPDATE users SET disabled_at = 1 WHERE id = ?', [ada.id]);
    expect((await logIn(service, ada)).status).toBe(403);
    expect((await untilFailed(ada, 3)).count).toBe(3);
    await db.query('UPDATE users SET disabled_at = NULL WHERE id = ?', [ada.id]);
    expect((await secondStep(service, challenge, app.next())).status).toBe(200);
    await untilTraced(ada, ({ failedLogins: { count } }) => count === 0);
  });

  it.concurrent('is exported, and is gone with the user, whatever is noted late', async () => {
    const ada = await anAccount(service, 'ada');
    await fail(ada);
    await untilFailed(ada, 1);
    const exported = await ada.get<{ loginTrace: object[] }>('/api/me/export');
    expect(exported.body.loginTrace).toEqual([await traceOf(ada)]);
    await fail(ada);
    const { password } = ada;
    expect((await ada.delete('/api/me', { password })).status).toBe(200);
    const grace = await anAccount(service, 'grace');
    await fail(grace);
    await untilFailed(grace, 1);
    expect(await db.query('SELECT * FROM login_traces WHERE user_id = ?', [ada.id])).toEqual([]);
  });

  it.concurrent('has no row for an email without a user', async () => {
    const ada = await anAccount(service, 'ada');
    const address = '192.0.2.77';
    await fail({ email: anEmail() }, service, address);
    await fail(ada, service, address);
    await untilFailed(ada, 1);
    const rows = await db.query('SELECT user_id FROM login_traces WHERE failed_ip = ?', [address]);
    expect(rows).toEqual([{ user_id: ada.id }]);
  });

  it('counts every failure of many at once, on all instances', async () => {
    const ada = await anAccount(service, 'ada');
    // Of one address, an instance lets a few logins at once wait for their hash.
    await Promise.all(instances.flatMap((at) => times(25, (i) => fail(ada, at, `203.0.113.${i}`))));
    expect((await untilFailed(ada, 25 * instances.length)).count).toBe(25 * instances.length);
  });

  it('lets no login wait while its row is locked, and loses nothing', async () => {
    const ada = await anAccount(service, 'ada');
    await untilTraced(ada, ({ lastLoginAt }) => lastLoginAt !== null);
    const held = await holdRows(service);
    await held.write('UPDATE login_traces SET failures = failures WHERE user_id = ?', [ada.id]);
    for (const _ of times(3, () => 0)) await fail(ada);
    await held.untilOneWaits();
    await fail(ada);
    await held.commit();
    expect((await untilFailed(ada, 4)).count).toBe(4);
  });

  it('is complete when an instance has stopped', async () => {
    const ending = await startCluster(1);
    const [at] = ending.instances as [Service];
    const ada = await anAccount(at, 'ada');
    await fail(ada, at);
    await at.stop();
    const rows = await ending.db.query('SELECT failures FROM login_traces WHERE user_id = ?', [ada.id]);
    expect(rows).toEqual([{ failures: 1 }]);
    await ending.stop();
  });
});

describe('the notes of logins', async () => {
  const data = await openDataLayer();
  const context = await wired(data);
  const traces = context.get(LoginTraces, { strict: false });
  const origin = { requestId: 'a-test', address: '203.0.113.9' };
  const flush = () => traces.write(Date.now());
  const rows = () => data.db.query('SELECT * FROM login_traces ORDER BY user_id');
  afterAll(() => data.close());

  const aUser = async (): Promise<{ id: string; email: string }> => {
    const user = { id: anUnknownId(), email: anEmail() };
    await insertRow(data.db, 'users', { ...user });
    return user;
  };

  it('are one write for all users, and none without a note', async () => {
    const users = [await aUser(), await aUser(), await aUser()];
    const executed = recordStatements(data.dataSource);
    const writes = () => executed.filter(({ verb }) => verb === 'INSERT').length;
    for (const user of users.toReversed())
      for (const _ of times(30, () => 0)) traces.noteFailure('wrong_password', user, origin);
    expect(executed).toEqual([]);
    await flush();
    expect(writes()).toBe(1);
    await flush();
    expect(writes()).toBe(1);
    expect((await rows()).map(({ failures }) => Number(failures))).toEqual([30, 30, 30]);
  });

  it('are kept while they cannot be written', async () => {
    const user = await aUser();
    await data.db.query('ALTER TABLE login_traces RENAME TO elsewhere', []);
    const someFailures = () => times(10, () => traces.noteFailure('wrong_password', user, origin));
    for (const failures of [someFailures, someFailures, someFailures]) {
      failures();
      await expect(flush()).rejects.toThrow(/login_traces/);
    }
    await data.db.query('ALTER TABLE elsewhere RENAME TO login_traces', []);
    await flush();
    const row = (await rows()).find(({ user_id }) => user_id === user.id);
    expect(Number(row!['failures'])).toBe(30);
  });

  it('lose the IP address after 90 days, and nothing else', async () => {
    const user = await aUser();
    traces.noteFailure('wrong_password', user, origin);
    await flush();
    const row = async () => (await rows()).find(({ user_id }) => user_id === user.id)!;
    const { failed_at: failedAt } = await row();
    const cleanUp = aCleanUp(data.dataSource);
    await cleanUp.deleteExpired(Number(failedAt) + 90 * DAY_MS - 1);
    expect(await row()).toMatchObject({ failed_ip: '203.0.113.9' });
    await cleanUp.deleteExpired(Number(failedAt) + 90 * DAY_MS);
    expect(await row()).toMatchObject({ failed_ip: null, ip_expires_at: null, failed_at: failedAt });
    expect(Number((await row())['failures'])).toBe(1);
  });
});
