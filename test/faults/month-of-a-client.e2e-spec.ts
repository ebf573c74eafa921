import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type Client,
  type ClientProblem,
  createClient,
  memoryStore,
  type Result,
  type TokenStore,
} from '../../client/src/index.ts';
import { anAccount, anEmail, aPassword } from '../support/personas.js';
import { report } from './support/figures.js';
import { aStage, expectHealthy, type Stage } from './support/story.js';

let stage: Stage;

beforeAll(async () => {
  stage = await aStage();
});
afterAll(() => stage.close());

type Answered<Data> = Result<Data, ClientProblem | { code: string; detail: string }>;

/** Returns the data of an operation that must have been done. */
function done<Data>(result: Answered<Data>): Data {
  if (!result.ok) throw new Error(`${result.problem.code}: ${result.problem.detail}`);
  return result.data;
}

function expectRefused(result: Answered<unknown>, code: string): void {
  expect(result).toMatchObject({ ok: false, problem: { code } });
}

/** The windows of one program, each at another instance, which share where the login is kept. */
function windowsOf(store: TokenStore): [Client, Client, Client] {
  const [first, second, third] = stage.galera.instances.map(({ url }) =>
    createClient({ baseUrl: url, store }),
  );
  return [first!, second!, third!];
}

/** Gives a thief what the program has stored. */
async function copyOf(store: TokenStore): Promise<TokenStore> {
  return memoryStore((await store.load()) ?? undefined);
}

/** The client would hide it behind a refresh. */
async function expectEverywhere(accessToken: string, status: number, when: string): Promise<void> {
  const answers = await Promise.all(
    stage.galera.instances.map(({ anyone }) => anyone.withToken(accessToken).get('/api/me')),
  );
  expect(
    answers.map((answer) => answer.status),
    when,
  ).toEqual([status, status, status]);
}

it('is lived through on three instances, each with a node of its own', async () => {
  const { galera, mailServer } = stage;
  const email = anEmail('ada');
  const password = aPassword();

  const home = memoryStore();
  const [first, second, third] = windowsOf(home);
  done(await first.register({ email, password }));

  // She verifies her address, at another instance than the one that sent the code, and starts an organization.
  done(await second.askForVerification());
  done(await third.verify({ code: (await mailServer.next(email)).code! }));
  const grace = await anAccount(galera.on(1), 'grace');
  const { org } = done(await first.createOrg({ name: 'Analytical Engines' }));
  done(await second.addMember({ orgId: org.id, email: grace.email, role: 'admin' }));

  // Two windows refresh at the same moment, at different instances.
  const both = await Promise.all([first.refresh(), second.refresh()]);
  const tokens = both.map((refreshed) => done(refreshed).token);
  for (const token of tokens) await expectEverywhere(token, 200, 'after two windows refreshed');
  tokens.push(done(await third.refresh()).token);

  // She loses her password; the new one ends whatever was open.
  done(await second.forgot({ email }));
  const { code } = await mailServer.next(email, 2);
  const newPassword = aPassword();
  done(await third.reset({ email, code: code!, newPassword }));
  for (const token of tokens) await expectEverywhere(token, 401, 'after the reset');
  expectRefused(await first.getMe(), 'invalid_refresh_token');
  expectRefused(await second.getMe(), 'not_logged_in');
  expectRefused(await first.login({ email, password }), 'invalid_credentials');

  // A thief takes the refresh token and goes ahead; when she refreshes, the login ends for both.
  done(await first.login({ email, password: newPassword }));
  const [, , elsewhere] = windowsOf(memoryStore());
  done(await elsewhere.login({ email, password: newPassword }));
  const [, thief, thiefElsewhere] = windowsOf(await copyOf(home));
  done(await thief.refresh());
  const stolen = done(await thiefElsewhere.refresh()).token;
  expectRefused(await first.refresh(), 'invalid_refresh_token');
  await expectEverywhere(stolen, 401, 'after the theft showed');
  expectRefused(await thiefElsewhere.getMe(), 'invalid_refresh_token');
  const other = done(await elsewhere.refresh()).token;
  await expectEverywhere(other, 200, 'of another login');

  // She hands the organization over, and leaves.
  const leaving = { password: newPassword };
  expectRefused(await elsewhere.deleteAccount(leaving), 'last_owner');
  done(await elsewhere.changeMemberRole({ orgId: org.id, userId: grace.id, role: 'owner' }));
  done(await elsewhere.deleteAccount(leaving));
  await expectEverywhere(other, 401, 'after she left');
  expectRefused(await first.login({ email, password: newPassword }), 'invalid_credentials');
  const left = await grace.get<{ members: unknown[] }>(`/api/orgs/${org.id}/members`);
  expect(left.body.members).toEqual([{ userId: grace.id, email: grace.email, role: 'owner' }]);

  await expectHealthy(galera.installation);
  report({ faults: 0, wrong: 0 });
});
