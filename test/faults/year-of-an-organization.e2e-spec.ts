import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Answer } from '../support/answer.js';
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
import { recovery } from './support/mixed-load.js';
import { aStage, done, expectHealthy, type Stage } from './support/story.js';

let stage: Stage;

beforeAll(async () => {
  stage = await aStage({ knowAll: true });
});
afterAll(() => stage.close());

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
  const { code } = await stage.mailServer.next(who.email);
  done(await who.post('/api/me/email/verify', { code }));
}

it('is lived through by four people on three instances, while a node is killed', async () => {
  const { galera, mailServer } = stage;
  const [first, second, third] = [galera.on(0), galera.on(1), galera.on(2)];
  const [ada, cleo, dan] = [
    await anAccount(first, 'ada'),
    await anAccount(second, 'cleo'),
    await anAccount(third, 'dan'),
  ];
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
  const registered = await third.anyone.post<Session>('/api/auth/register', {
    email: benEmail,
    password,
    invitationCode,
  });
  const { token, user } = done(registered, 201);
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

  // A node dies. Dan invites somebody all the same, and leaves: nobody joins by a code of his any more.
  await galera.cluster.node(2).kill();
  const recovered = await recovery(dan, third);
  const eveEmail = anEmail('eve');
  const toEve = await invite(dan, eveEmail, 'member');
  const { code: deadCode } = await mailServer.next(eveEmail);
  done(await dan.at(first).post(`${path}/leave`));
  const eve = { email: eveEmail, password: aPassword() };
  refused(
    await second.anyone.post('/api/auth/register', { ...eve, invitationCode: deadCode }),
    400,
    'invalid_invitation_code',
  );
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
  expect(done(await rename('Difference Engines'))).toEqual({
    org: { id: org.id, name: 'Difference Engines' },
  });
  refused(await rename('Jacquard Looms'), 412, 'precondition_failed');

  // He deletes it, which is so everywhere at once, and restores it elsewhere.
  done(await ben.delete(path));
  for (const instance of galera.instances) {
    refused(await ben.at(instance).get(path), 404, 'org_not_found');
    refused(await cleo.at(instance).get(`${path}/members`), 404, 'org_not_found');
    expect(done(await cleo.at(instance).get('/api/me'))).toMatchObject({ orgs: [] });
  }
  const deleted = await ben.at(second).get('/api/me/deleted-orgs');
  expect(done(deleted)).toMatchObject({ orgs: [{ id: org.id, name: 'Difference Engines' }] });
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
  expect(done(record).events.map(({ type }) => type)).toEqual(expect.arrayContaining(RECORDED));
  await expectHealthy(galera.installation);
  report({ faults: 1, wrong: 0, recoveriesMs: [recovered] });
});

const RECORDED = [
  'org.created',
  'org.renamed',
  'org.deleted',
  'org.restored',
  'member.added',
  'member.role_changed',
  'member.removed',
  'invitation.created',
  'invitation.accepted',
  'invitation.declined',
  'invitation.revoked',
];
