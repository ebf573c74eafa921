import { setTimeout as pass } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { accounts, accountsJson } from '../support/accounts-command.js';
import { times } from '../support/at-once.js';
import { instancesInADuel } from '../support/engine.js';
import { invalidEmailCode, rateLimited } from '../support/expected.js';
import { startMailing } from '../support/mailing.js';
import { anOperator } from '../support/operators.js';
import { type Account, anAccount, aPassword } from '../support/personas.js';
import { type Service, startService } from '../support/service.js';
import { hangTimeoutMs } from '../../tooling/wait.js';

const LIMIT = 10;
const A_STRANGER = '203.0.113.9';
const BETWEEN_GUESSES_MS = 20;

const env = { TRUST_PROXY: '127.0.0.1', RATE_LIMIT_FAILED_LOGINS: `${LIMIT}/15m` };
const { mailServer, ...cluster } = await startMailing(env, instancesInADuel);

const loginAt = (service: Service, { email }: Account, password = aPassword(), address = '127.0.0.1') =>
  service.anyone.with({ 'x-forwarded-for': address }).post('/api/auth/login', { email, password });

async function isRefusedEverywhere(account: Account): Promise<void> {
  for (const service of cluster.instances)
    expect(await loginAt(service, account, account.password)).toMatchObject(rateLimited);
}

async function failOften(account: Account): Promise<void> {
  for (const service of cluster.instances)
    for (const _ of times(LIMIT, () => 0)) await loginAt(service, account);
  await isRefusedEverywhere(account);
}

it('a completed reset of the password, and nothing less, lifts the limits of logins of that email everywhere', async () => {
  const [here] = cluster.instances as [Service];
  const [ada, grace] = [await anAccount(here, 'ada'), await anAccount(here, 'grace')];
  await failOften(ada);
  await failOften(grace);
  await here.anyone.post('/api/auth/password/forgot', { email: ada.email });
  const { code } = await mailServer.next(ada.email);
  cluster.installation.secrets.note(code);
  const [email, newPassword] = [ada.email, aPassword()];
  const reset = (typed: unknown) =>
    here.anyone.post('/api/auth/password/reset', { email, code: typed, newPassword });
  expect(await reset('ABCDE-FGHJK')).toMatchObject(invalidEmailCode);
  await isRefusedEverywhere(ada);
  expect((await reset(code)).status).toBe(200);
  expect((await loginAt(here, ada, newPassword)).status, 'where the password was reset').toBe(200);
  for (const service of cluster.instances) {
    const statusAt = async (address: string) => (await loginAt(service, ada, newPassword, address)).status;
    await expect.poll(() => statusAt('127.0.0.1'), { timeout: hangTimeoutMs() }).toBe(200);
    expect(await statusAt(A_STRANGER), 'the limit over all addresses').toBe(200);
  }
  await isRefusedEverywhere(grace);
  await failOften({ ...ada, password: newPassword } as Account);
});

it('an operator lifts the limits of logins everywhere, while an attacker goes on, who is limited again', async () => {
  const [here] = cluster.instances as [Service];
  const [ada, operator] = [await anAccount(here, 'ada'), await anOperator(here)];
  await failOften(ada);
  const end = new AbortController();
  const attack = async (service: Service): Promise<void> => {
    while (!end.signal.aborted) {
      await loginAt(service, ada, aPassword(), A_STRANGER);
      await pass(BETWEEN_GUESSES_MS);
    }
  };
  const attacks = cluster.instances.map(attack);
  const at = `/api/operators/users/${ada.id}/unblock`;
  expect((await operator.post(at, { reason: 'called back' })).status).toBe(200);
  const statusAt = async (service: Service) => (await loginAt(service, ada, ada.password)).status;
  expect(await statusAt(here), 'where the limits were lifted').toBe(200);
  for (const service of cluster.instances)
    await expect.poll(() => statusAt(service), { timeout: hangTimeoutMs() }).toBe(200);
  end.abort();
  await Promise.all(attacks);
  for (const service of cluster.instances) {
    const attempt = async () => (await loginAt(service, ada, aPassword(), A_STRANGER)).status;
    await expect.poll(attempt, { timeout: hangTimeoutMs() }).toBe(429);
  }
  await failOften(ada);
});

it('an operator lifts the limit of failed logins where logins have no other', async () => {
  const service = await startService({ env: { ...env, RATE_LIMIT_LOGIN: 'off' } });
  onTestFinished(() => service.stop());
  const [ada, operator] = [await anAccount(service, 'ada'), await anOperator(service)];
  for (const _ of times(LIMIT, () => 0)) await loginAt(service, ada, aPassword(), A_STRANGER);
  expect(await loginAt(service, ada, ada.password, A_STRANGER)).toMatchObject(rateLimited);
  await operator.post(`/api/operators/users/${ada.id}/unblock`, { reason: 'called back' });
  expect((await loginAt(service, ada, ada.password, A_STRANGER)).status).toBe(200);
});

interface ShownLimits {
  loginLimits: { limit: string; until: string }[];
  loginLimitsOf: string;
  failedLogins: { lastIp: string | null };
}

it('an operator sees which limits hold now, and looking counts nothing', async () => {
  const [here, ...others] = cluster.instances as [Service, ...Service[]];
  const [ada, operator] = [await anAccount(here, 'ada'), await anOperator(here)];
  const shown = async (by = operator) =>
    (await by.get<{ user: ShownLimits }>(`/api/operators/users/${ada.id}`)).body.user;
  const limits = async (by = operator) => (await shown(by)).loginLimits.map(({ limit }) => limit);

  for (const _ of times(LIMIT - 1, () => 0)) await loginAt(here, ada, aPassword(), A_STRANGER);
  await expect
    .poll(async () => (await shown()).failedLogins.lastIp, { timeout: hangTimeoutMs() })
    .toBe(A_STRANGER);
  for (const _ of times(LIMIT, () => 0))
    expect(await shown()).toMatchObject({ loginLimits: [], loginLimitsOf: 'instance' });
  expect((await loginAt(here, ada, aPassword(), A_STRANGER)).status).toBe(401);

  expect(await limits()).toEqual(['account', 'login']);
  const refused = await loginAt(here, ada, aPassword(), A_STRANGER);
  expect(refused).toMatchObject(rateLimited);
  const seconds = Number(refused.headers.get('retry-after'));
  for (const { until } of (await shown()).loginLimits)
    expect(Math.abs((Date.parse(until) - Date.now()) / 1000 - seconds)).toBeLessThan(60);
  for (const other of others) expect(await limits(operator.at(other))).toEqual([]);

  const since = Date.now();
  await here.db.query(
    "INSERT INTO second_factor_failures (user_id, scope, count, since) VALUES (?, 'login', 10, ?)",
    [ada.id, since],
  );
  expect((await shown()).loginLimits[2]).toEqual({
    limit: 'second_factor',
    until: new Date(since + 15 * 60_000).toISOString(),
  });
  const command = ['users', 'show', ada.email];
  const [byCommand] = await accountsJson<ShownLimits>(cluster.installation, command);
  expect(byCommand).toMatchObject({ loginLimits: [{ limit: 'second_factor' }], loginLimitsOf: 'database' });
  const { stdout } = await accounts(cluster.installation, command);
  expect(stdout).toMatch(
    /\nloginLimits +second_factor until \S+Z, others unknown: each instance counts [^\n]+\n/,
  );

  await operator.post(`/api/operators/users/${ada.id}/unblock`, { reason: 'called back' });
  expect(await limits()).toEqual([]);
});
