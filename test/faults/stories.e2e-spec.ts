import { expect, it } from 'vitest';
import {
  type Client,
  type ClientProblem,
  createClient,
  memoryStore,
  type Result,
  type TokenStore,
} from '../../client/src/index.ts';
import {
  Account,
  anAccount,
  anEmail,
  anOrgOf,
  aPassword,
  connectionTo,
  type Session,
} from '../support/personas.js';
import { report } from './support/figures.js';
import { done, expectHealthy } from './support/story.js';
import type { Answer } from '../support/answer.js';
import { recovery } from './support/mixed-load.js';
import { closeAfterAll } from './support/deployment.js';
import { GaleraService } from './support/galera-service.js';
import { MailServer } from '../support/mail-server.js';

const mailServer = await closeAfterAll(MailServer.start());
const galera = await closeAfterAll(GaleraService.start({ env: mailServer.env, knowAll: true }));

type Answered<Data> = Result<Data, ClientProblem | { code: string; detail: string }>;

/** Returns the data of an operation that must have been done. */
function made<Data>(result: Answered<Data>): Data {
  if (!result.ok) throw new Error(`${result.problem.code}: ${result.problem.detail}`);
  return result.data;
}

function expectRefused(result: Answered<unknown>, code: string): void {
  expect(result).toMatchObject({ ok: false, problem: { code } });
}

/** The windows of one program, each at another instance, which share where the login is kept. */
function windowsOf(store: TokenStore): [Client, Client, Client] {
  const [first, second, third] = galera.instances.map(({ url }) => createClient({ baseUrl: url, store }));
  return [first!, second!, third!];
}

/** The client would hide it behind a refresh. */
async function expectEverywhere(accessToken: string, status: number, when: string): Promise<void> {
  for (const { anyone } of galera.instances)
    expect((await anyone.withToken(accessToken).get('/api/me')).status, when).toBe(status);
}

it('a month of a client is lived through on three instances, each with a node of its own', async () => {
  const email = anEmail('ada');
  const password = aPassword();

  const home = memoryStore();
  const [first, second, third] = windowsOf(home);
  made(await first.register({ email, password }));

  // She verifies her address, at another instance than the one that sent the code, and starts an organization.
  made(await second.requestEmailVerification());
  made(await third.verifyEmail({ code: (await mailServer.next(email)).code! }));
  const grace = await anAccount(galera.on(1), 'grace');
  const { org } = made(await first.createOrg({ name: 'Analytical Engines' }));
  made(await second.addMember({ orgId: org.id, email: grace.email, role: 'admin' }));

  // Two windows refresh at the same moment, at different instances.
  const both = await Promise.all([first.refresh(), second.refresh()]);
  const tokens = both.map((refreshed) => made(refreshed).token);
  for (const token of tokens) await expectEverywhere(token, 200, 'after two windows refreshed');
  tokens.push(made(await third.refresh()).token);

  // She loses her password; the new one ends whatever was open.
  made(await second.requestPasswordReset({ email }));
  const { code } = await mailServer.next(email, 2);
  const newPassword = aPassword();
  made(await third.resetPassword({ email, code: code!, newPassword }));
  for (const token of tokens) await expectEverywhere(token, 401, 'after the reset');
  expectRefused(await first.getMe(), 'invalid_refresh_token');
  expectRefused(await second.getMe(), 'not_logged_in');
  expectRefused(await first.login({ email, password }), 'invalid_credentials');

  // A thief takes the refresh token and goes ahead; when she refreshes, the login ends for both.
  made(await first.login({ email, password: newPassword }));
  const [, , elsewhere] = windowsOf(memoryStore());
  made(await elsewhere.login({ email, password: newPassword }));
  const [, thief, thiefElsewhere] = windowsOf(memoryStore((await home.load()) ?? undefined));
  made(await thief.refresh());
  const stolen = made(await thiefElsewhere.refresh()).token;
  expectRefused(await first.refresh(), 'invalid_refresh_token');
  await expectEverywhere(stolen, 401, 'after the theft showed');
  expectRefused(await thiefElsewhere.getMe(), 'invalid_refresh_token');
  const other = made(await elsewhere.refresh()).token;
  await expectEverywhere(other, 200, 'of another login');

  // She hands the organization over, and leaves.
  const leaving = { password: newPassword };
  expectRefused(await elsewhere.deleteAccount(leaving), 'last_owner');
  made(await elsewhere.changeMemberRole({ orgId: org.id, userId: grace.id, role: 'owner' }));
  made(await elsewhere.deleteAccount(leaving));
  await expectEverywhere(other, 401, 'after she left');
  expectRefused(await first.login({ email, password: newPassword }), 'invalid_credentials');
  const left = await grace.get<{ members: unknown[] }>(`/api/orgs/${org.id}/members`);
  expect(left.body.members).toEqual([{ userId: grace.id, email: grace.email, role: 'owner' }]);

  await expectHealthy(galera.installation);
});

interface Invitation {
  id: string;
  status: string;
}

function refused(answer: Answer, status: number, code: string): void {
  expect(answer.status, answer.text).toBe(status);
  expect(answer.body).toMatchObject({ code });
}

/** By the code that was mailed to it. */
async function verifyEmail(who: Account): Promise<void> {
  done(await who.post('/api/me/email/verification'), 202);
  const { code } = await mailServer.next(who.email);
  done(await who.post('/api/me/email/verify', { code }));
}

it('a year of an organization is lived through by four people on three instances, while a node is killed', async () => {
  const [first, second, third] = [galera.on(0), galera.on(1), galera.on(2)];
  const [ada, cleo] = [await anAccount(first, 'ada'), await anAccount(second, 'cleo')];
  const dan = await anAccount(third, 'dan');
  await verifyEmail(ada);
  await verifyEmail(cleo);
  const org = await anOrgOf(ada, 'Analytical Engines');
  const path = `/api/orgs/${org.id}`;
  const invite = async (by: Account, email: string, role: string): Promise<Invitation> => {
    const answer = await by.post<{ invitation: Invitation }>(`${path}/invitations`, { email, role });
    return done(answer, 201).invitation;
  };

  // Ben is invited before he has an account, and registers with the code that he gets.
  const benEmail = anEmail('ben');
  await invite(ada.at(second), benEmail, 'admin');
  const { code: invitationCode } = await mailServer.next(benEmail);
  const password = aPassword();
  const body = { email: benEmail, password, invitationCode };
  const { token, user } = done(await third.anyone.post<Session>('/api/auth/register', body), 201);
  const ben = new Account(connectionTo(first), token, user.id, benEmail, password);
  expect(done(await ben.get('/api/me'))).toMatchObject({ orgs: [{ id: org.id }] });

  // Cleo declines, and cannot change her mind by herself.
  const toCleo = await invite(ada.at(third), cleo.email, 'member');
  const seen = await cleo.at(first).get<{ invitations: Invitation[] }>('/api/me/invitations');
  expect(done(seen).invitations.map(({ id }) => id)).toEqual([toCleo.id]);
  done(await cleo.post(`/api/me/invitations/${toCleo.id}/decline`));
  refused(await cleo.at(third).post(`/api/me/invitations/${toCleo.id}/accept`), 409, 'invitation_ended');

  // Dan's address is not verified: only the code of the mail lets him in.
  const toDan = await invite(ada, dan.email, 'admin');
  expect(done(await dan.get('/api/me/invitations'))).toEqual({ invitations: [] });
  refused(await dan.post(`/api/me/invitations/${toDan.id}/accept`), 403, 'email_not_verified');
  const { code } = await mailServer.next(dan.email);
  const joined = await dan.at(second).post(`/api/me/invitations/${toDan.id}/accept`, { code });
  expect(done(joined)).toEqual({ org, role: 'admin' });

  // A node dies. Dan invites somebody all the same, and leaves: his codes no longer work.
  await galera.cluster.node(2).kill();
  const recovered = await recovery(dan, third);
  const eveEmail = anEmail('eve');
  const toEve = await invite(dan, eveEmail, 'member');
  const { code: deadCode } = await mailServer.next(eveEmail);
  done(await dan.at(first).post(`${path}/leave`));
  const eve = { email: eveEmail, password: aPassword() };
  const dead = { ...eve, invitationCode: deadCode };
  refused(await second.anyone.post('/api/auth/register', dead), 400, 'invalid_invitation_code');
  refused(await second.anyone.post('/api/auth/login', eve), 401, 'invalid_credentials');
  const revoked = await ada.get<{ invitations: Invitation[] }>(`${path}/invitations?status=revoked`);
  expect(done(revoked).invitations.map(({ id }) => id)).toEqual([toEve.id]);

  // Cleo has changed her mind.
  const again = await invite(ben, cleo.email, 'member');
  done(await cleo.post(`/api/me/invitations/${again.id}/accept`));

  // Ada cannot leave alone; she tries out how to hand the organization over, does it once, and hears of it twice.
  const alone = await ada.post(`${path}/leave?remedy=true`);
  refused(alone, 409, 'last_owner');
  expect(alone.body).toMatchObject({ remedy: { action: 'transfer' } });
  const handOver = { userId: ben.id, leave: true };
  const tried = await ada.post(`${path}/transfer?dryRun=true`, handOver);
  expect([done(tried), tried.headers.get('dry-run')]).toEqual([{ ok: true }, 'true']);
  expect(done(await ben.get(`${path}/members/me`))).toMatchObject({ member: { role: 'admin' } });
  const once = { 'idempotency-key': '"hand-over"' };
  done(await ada.with(once).post(`${path}/transfer`, handOver));
  const repeated = await ada.at(second).with(once).post(`${path}/transfer`, handOver);
  expect([done(repeated), repeated.headers.get('idempotency-replayed')]).toEqual([{ ok: true }, 'true']);
  refused(await ada.get(path), 403, 'not_a_member');

  // The node is back. Ben renames what he has seen, and not what he has not.
  await galera.cluster.node(2).restart();
  await galera.cluster.waitForSize(3);
  const etag = (await ben.get(path)).headers.get('etag')!;
  const rename = (name: string): Promise<Answer> => ben.with({ 'if-match': etag }).patch(path, { name });
  const renamed = { id: org.id, name: 'Difference Engines' };
  expect(done(await rename('Difference Engines'))).toEqual({ org: renamed });
  refused(await rename('Jacquard Looms'), 412, 'precondition_failed');

  // He deletes it, which is so everywhere at once, and restores it elsewhere.
  done(await ben.delete(path));
  for (const instance of galera.instances) {
    refused(await ben.at(instance).get(path), 404, 'org_not_found');
    refused(await cleo.at(instance).get(`${path}/members`), 404, 'org_not_found');
    expect(done(await cleo.at(instance).get('/api/me'))).toMatchObject({ orgs: [] });
  }
  const deleted = await ben.at(second).get('/api/me/deleted-orgs');
  expect(done(deleted)).toMatchObject({ orgs: [renamed] });
  refused(await cleo.post(`${path}/restore`), 404, 'org_not_found');
  done(await ben.at(third).post(`${path}/restore`));
  expect(done(await cleo.get(`${path}/members`))).toEqual({
    members: [
      { userId: ben.id, email: ben.email, role: 'owner' },
      { userId: cleo.id, email: cleo.email, role: 'member' },
    ],
  });

  await galera.cluster.waitUntilEqual();
  const record = await ben.get<{ events: { type: string }[] }>(`${path}/events`);
  const types = done(record).events.map(({ type }) => type);
  const expected = {
    org: ['created', 'renamed', 'deleted', 'restored'],
    member: ['added', 'role_changed', 'removed'],
    invitation: ['created', 'accepted', 'declined', 'revoked'],
  };
  for (const [subject, changes] of Object.entries(expected))
    expect(types).toEqual(expect.arrayContaining(changes.map((change) => `${subject}.${change}`)));
  await expectHealthy(galera.installation);
  report({ faults: 1, wrong: 0, recoveriesMs: [recovered] });
});
