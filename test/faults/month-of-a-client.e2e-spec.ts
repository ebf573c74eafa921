import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Answer } from '../support/answer.js';
import { Account, anAccount, anEmail, anOrgOf, aPassword, connectionTo, join } from '../support/personas.js';
import { aRefreshableLogin, refresh, refreshed, type Tokens } from '../support/refreshing.js';
import type { Instance } from '../support/service.js';
import { report } from './support/figures.js';
import { aStage, done, expectHealthy, type Stage } from './support/story.js';

let stage: Stage;

beforeAll(async () => {
  stage = await aStage();
});
afterAll(() => stage.close());

function meEverywhere(token: string): Promise<Answer[]> {
  return Promise.all(stage.galera.instances.map(({ anyone }) => anyone.withToken(token).get('/api/me')));
}

async function expectEverywhere(token: string, status: number, when: string): Promise<void> {
  const answers = await meEverywhere(token);
  expect(
    answers.map((answer) => answer.status),
    when,
  ).toEqual([status, status, status]);
}

it('is lived through on three instances, each with a node of its own', async () => {
  const { galera, mailServer } = stage;
  const [first, second, third] = [galera.on(0), galera.on(1), galera.on(2)];
  const email = anEmail('ada');
  const password = aPassword();

  const registered = await first.anyone.post<Tokens & { user: { id: string } }>('/api/auth/register', {
    email,
    password,
    refresh: true,
  });
  const { token, refreshToken, user } = done(registered, 201);
  const ada = (tokens: Tokens, at: Instance): Account =>
    new Account(connectionTo(at), tokens.token, user.id, email, password);

  // She verifies her address, at another instance than the one that sent the code, and starts an organization.
  done(await second.anyone.withToken(token).post('/api/me/email/verification'), 202);
  const { code } = await mailServer.next(email);
  done(await third.anyone.withToken(token).post('/api/me/email/verify', { code }));
  const grace = await anAccount(second, 'grace');
  const org = await anOrgOf(ada(registered.body, first));
  await join(org, ada(registered.body, second), grace, 'admin');

  // Two windows refresh at the same moment, at different instances.
  const windows = await Promise.all([refreshed(first, refreshToken), refreshed(second, refreshToken)]);
  for (const window of windows) await expectEverywhere(window.token, 200, 'after two windows refreshed');
  const again = await Promise.all(windows.map((window) => refreshed(third, window.refreshToken)));
  expect(again).toHaveLength(2);

  // She loses her password; the new one ends whatever was open.
  done(await second.anyone.post('/api/auth/password/forgot', { email }), 202);
  const reset = await mailServer.next(email, 2);
  const newPassword = aPassword();
  done(await third.anyone.post('/api/auth/password/reset', { email, code: reset.code, newPassword }));
  for (const window of [...windows, ...again]) await expectEverywhere(window.token, 401, 'after the reset');
  done(await refresh(first, again[0]!.refreshToken), 401);
  done(await first.anyone.post('/api/auth/login', { email, password }), 401);

  // A thief takes the refresh token and goes ahead; when she refreshes, the login ends for both.
  const mine = await aRefreshableLogin(first, { email, password: newPassword });
  const elsewhere = await aRefreshableLogin(second, { email, password: newPassword });
  const stolen = await refreshed(second, mine.refreshToken);
  const further = await refreshed(third, stolen.refreshToken);
  done(await refresh(first, mine.refreshToken), 401);
  await expectEverywhere(further.token, 401, 'after the theft showed');
  done(await refresh(third, further.refreshToken), 401);
  await expectEverywhere(elsewhere.token, 200, 'of another login');

  // She hands the organization over, and leaves.
  const leaving = { password: newPassword };
  const refused = await third.anyone.withToken(elsewhere.token).delete('/api/me', leaving);
  done(refused, 409);
  expect(refused.body).toMatchObject({ code: 'last_owner' });
  done(await ada(elsewhere, first).patch(`/api/orgs/${org.id}/members/${grace.id}`, { role: 'owner' }));
  done(await third.anyone.withToken(elsewhere.token).delete('/api/me', leaving));
  await expectEverywhere(elsewhere.token, 401, 'after she left');
  done(await first.anyone.post('/api/auth/login', { email, password: newPassword }), 401);
  const left = await grace.at(second).get<{ members: unknown[] }>(`/api/orgs/${org.id}/members`);
  expect(left.body.members).toEqual([{ userId: grace.id, email: grace.email, role: 'owner' }]);

  await expectHealthy(galera.installation);
  report({ faults: 0, wrong: 0 });
});
