import { setTimeout as pass } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
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
