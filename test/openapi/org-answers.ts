import { expect } from 'vitest';
import type { Caller } from '../support/caller.js';
import { DAY_MS } from '../support/inviting.js';
import {
  type Account,
  anAccount,
  anEmail,
  anOrgOf,
  anUnknownId,
  aPassword,
  byCode,
  join,
} from '../support/personas.js';
import type { Service } from '../support/service.js';
import type { ExampleAnswers, Founders } from './example-answers.js';

const GRACE = { email: 'grace@example.com', role: 'member' };

/** Gets invitations answered. Ada has an organization; Grace belongs to none, before and afterwards. */
export async function collectInvitationAnswers(
  examples: ExampleAnswers,
  service: Service,
  withoutMail: Service,
  cast: Founders,
): Promise<void> {
  await service.db.query('UPDATE users SET email_verified_at = 1 WHERE id = ?', [cast.grace.id]);
  const invitationId = await inviteAndResend(examples, service, cast);
  await answer(examples, service, cast, invitationId);
  await answerByCode(examples, service, cast);
  await reachLimits(examples, service, cast);

  const alone = await anAccount(withoutMail);
  const path = { orgId: (await anOrgOf(alone)).id, invitationId: anUnknownId() };
  await examples.send('createInvitation', { by: alone, path, body: { ...GRACE, email: anEmail() } });
  await examples.send('resendInvitation', { by: alone, path, body: {} });
  await service.db.query('DELETE FROM members WHERE org_id = ? AND user_id = ?', [cast.orgId, cast.grace.id]);
  await service.db.query('DELETE FROM invitations');
  await service.db.query('DELETE FROM events WHERE org_id = ? AND org_revision > 1', [cast.orgId]);
  await service.db.query('UPDATE orgs SET revision = 1 WHERE id = ?', [cast.orgId]);
}

async function inviteAndResend(
  examples: ExampleAnswers,
  service: Service,
  { ada, grace, orgId }: Founders,
): Promise<string> {
  const other = await anAccount(service, 'other');
  await other.post(`/api/orgs/${(await anOrgOf(other)).id}/invitations`, { ...GRACE, showCode: true });
  await ada.post(`/api/orgs/${orgId}/invitations`, { ...GRACE, email: anEmail(), showCode: true });
  const { id: invitationId } = (await examples.send('createInvitation', { by: ada })).invitation;
  const path = { invitationId };
  await examples.send('createInvitation', { by: ada });
  await examples.send('listInvitations', { by: ada, query: '?limit=1' });
  await examples.send('listInvitations', { by: ada, query: '?limit=0' });
  await examples.send('listOwnInvitations', { by: grace, query: '?limit=1' });
  await examples.send('listOwnInvitations', { by: grace, query: '?limit=0' });
  await examples.send('resendInvitation', { by: ada, path });
  await examples.send('resendInvitation', { by: ada, path, body: { showCode: 1 } });
  await examples.sendAll(['resendInvitation', 'revokeInvitation', 'acceptInvitation', 'declineInvitation'], {
    by: ada,
    path: { invitationId: anUnknownId() },
  });
  return invitationId;
}

async function inviteTo(orgId: string, by: Caller, email: string): Promise<{ id: string; code: string }> {
  const { status, text, body } = await by.post<{ invitation: { id: string; code: string } }>(
    `/api/orgs/${orgId}/invitations`,
    { email, role: 'member', showCode: true },
  );
  expect(status, text).toBe(201);
  return body.invitation;
}

async function answer(
  examples: ExampleAnswers,
  service: Service,
  { ada, grace, orgId }: Founders,
  invitationId: string,
): Promise<void> {
  const path = { invitationId };
  const invite = async (email: string) => ({ invitationId: (await inviteTo(orgId, ada, email)).id });
  const [busy, unverified] = [await anAccount(service, 'busy'), await anAccount(service)];
  await anOrgOf(busy);
  await service.db.query('UPDATE users SET email_verified_at = 1 WHERE id = ?', [busy.id]);
  const derived = await byCode(service, busy);
  const toUnverified = await invite(unverified.email);
  for (const id of ['acceptInvitation', 'declineInvitation']) {
    await examples.send(id, { by: derived, path });
    await examples.send(id, { by: grace, path, body: { code: 0 } });
    await examples.send(id, { by: unverified, path: toUnverified, body: {} });
    await examples.send(id, { by: unverified, path: toUnverified });
  }
  await examples.send('acceptInvitation', { by: busy, path: await invite(busy.email) });
  await examples.sendAll(['acceptInvitation', 'acceptInvitation', 'declineInvitation'], { by: grace, path });
  await examples.send('createInvitation', { by: ada });
  await refuseMembers(examples, service, { ada, unverified, toUnverified });
  const [declined, revoked] = [await anAccount(service), anEmail()];
  await service.db.query('UPDATE users SET email_verified_at = 1 WHERE id = ?', [declined.id]);
  const toDeclined = await invite(declined.email);
  await examples.sendAll(['declineInvitation', 'acceptInvitation'], { by: declined, path: toDeclined });
  const toRevoked = await invite(revoked);
  await examples.sendAll(['revokeInvitation', 'revokeInvitation', 'resendInvitation'], {
    by: ada,
    path: toRevoked,
  });
  const body400 = { email: anEmail(), password: aPassword(), invitationCode: '00000-00000' };
  await examples.send('register', { by: service.anyone, body: body400 });
}

/** By somebody who joins and is removed again. */
async function answerByCode(
  examples: ExampleAnswers,
  service: Service,
  { ada, orgId }: Founders,
): Promise<void> {
  const [guest, busy, guesser] = await Promise.all(
    ['guest', 'busy', 'guesser'].map((name) => anAccount(service, name)),
  );
  await anOrgOf(busy!);
  const codeFor = async ({ email }: Account) => ({ code: (await inviteTo(orgId, ada, email)).code });
  const set = (sql: string, ...values: string[]) => service.db.query(sql, values);
  const joining = `INSERT INTO members (org_id, user_id, email, role, joined_at) VALUES (?, ?, ?, 'member', 1)`;
  const leave = 'DELETE FROM members WHERE user_id = ?';
  const derived = await byCode(service, guest!);

  const body = await codeFor(guest!);
  for (const id of ['acceptInvitationByCode', 'declineInvitationByCode']) {
    await examples.send(id, { by: derived });
    await examples.send(id, { by: guest! });
    await set('UPDATE invitations SET invited_by = id WHERE email = ?', guest!.email);
    await examples.send(id, { by: guest!, body });
    await set('UPDATE invitations SET invited_by = ? WHERE email = ?', await userIdOf(ada), guest!.email);
  }
  await set(joining, orgId, guest!.id, guest!.email);
  await examples.send('acceptInvitationByCode', { by: guest!, body });
  await set(leave, guest!.id);
  await examples.send('acceptInvitationByCode', { by: guest!, body });
  await set(leave, guest!.id);
  await examples.send('declineInvitationByCode', { by: guest!, body: await codeFor(guest!) });
  await examples.send('acceptInvitationByCode', { by: busy!, body: await codeFor(busy!) });
  for (let tries = 0; tries <= 10; tries += 1)
    await examples.send('acceptInvitationByCode', { by: guesser! });
  await examples.send('declineInvitationByCode', { by: guesser! });
}

async function userIdOf(caller: Caller): Promise<string> {
  return (await caller.get<{ user: { id: string } }>('/api/me')).body.user.id;
}

/** Of one who is a member by now. */
async function refuseMembers(
  examples: ExampleAnswers,
  service: Service,
  {
    ada,
    unverified,
    toUnverified,
  }: { ada: Caller; unverified: Account; toUnverified: { invitationId: string } },
): Promise<void> {
  await service.db.query(
    `INSERT INTO members (org_id, user_id, email, role, joined_at)
      SELECT org_id, ?, email, role, 1 FROM invitations WHERE id = ?`,
    [unverified.id, toUnverified.invitationId],
  );
  await examples.send('resendInvitation', { by: ada, path: toUnverified });
  await service.db.query('DELETE FROM members WHERE user_id = ?', [unverified.id]);
}

async function reachLimits(
  examples: ExampleAnswers,
  service: Service,
  { ada, orgId }: Founders,
): Promise<void> {
  const email = anEmail();
  const now = Date.now();
  const fill = async (count: number, status: string, to?: string): Promise<string> => {
    const ids = Array.from({ length: count }, () => anUnknownId());
    const [pending, end] = status === 'pending' ? [1, 'NULL'] : ['NULL', now];
    const rows = ids.map(
      (id) =>
        `('${id}', '${orgId}', '${to ?? `${id}@example.com`}', 'member', '${status}', ${pending}, 1, 1,
          '${orgId}', ${now}, ${now + DAY_MS}, ${end})`,
    );
    await service.db.query(
      `INSERT INTO invitations (id, org_id, email, role, status, pending, code_number, code_shown, invited_by,
         created_at, expires_at, ended_at) VALUES ${rows.join()}`,
    );
    return ids[0]!;
  };
  const expired = await fill(1, 'expired', email);
  const pending = await fill(1, 'pending', email);
  const path = { invitationId: expired };
  await examples.send('resendInvitation', { by: ada, path });
  await mailOften(service, orgId);
  await examples.send('resendInvitation', { by: ada, path: { invitationId: pending }, body: {} });
  await service.db.query('DELETE FROM invitations WHERE id = ?', [pending]);
  await examples.send('createInvitation', { by: ada, body: { email, role: 'member' } });
  for (let parts = 0; parts < 4; parts += 1) await fill(250, 'pending');
  await examples.send('createInvitation', { by: ada, body: { email, role: 'member', showCode: true } });
  await examples.send('resendInvitation', { by: ada, path });
}

/** As if there had been invitations all day. */
async function mailOften(service: Service, orgId: string): Promise<void> {
  const ids = Array.from({ length: 100 }, anUnknownId);
  await service.db.query(
    `INSERT INTO mails (id, kind, recipient, org_id, state, created_at, next_attempt_at)
      VALUES ${ids.map(() => "(?, 'invitation', 'x@example.com', ?, 'sent', 1, 1)").join()}`,
    ids.flatMap((id) => [id, orgId]),
  );
}

/** Gets answered what becomes of an organization, in one of its own for each that ends it. */
export async function collectOrgLifeAnswers(examples: ExampleAnswers, service: Service): Promise<void> {
  const [owner, member] = await Promise.all([anAccount(service, 'owner'), anAccount(service, 'member')]);
  const org = await anOrgOf(owner);
  await join(org, owner, member, 'member');
  const path = { orgId: org.id };
  const derived = await byCode(service, owner);

  await examples.sendAll(['renameOrg', 'leaveOrg'], { by: owner, path });
  await examples.sendAll(['transferOrg', 'deleteOrg', 'restoreOrg', 'leaveOrg'], { by: derived, path });
  const ofOwner = { by: derived, path: { ...path, userId: owner.id } };
  for (const id of ['changeMemberRole', 'removeMember']) await examples.send(id, ofOwner);
  await examples.sendAll(['transferOrg', 'deleteOrg'], { by: member, path });
  await refuseDisabled(examples, service, owner, member, org.id);
  await examples.sendAll(['deleteOrg', 'restoreOrg', 'restoreOrg'], { by: owner, path });
  await examples.send('transferOrg', { by: owner, path, body: { userId: member.id } });
  await examples.send('leaveOrg', { by: owner, path });
  await listPages(examples, service);
}

async function refuseDisabled(
  examples: ExampleAnswers,
  { db }: Service,
  owner: Account,
  { id }: Account,
  orgId: string,
): Promise<void> {
  const setDisabled = (at: number | null) =>
    db.query('UPDATE users SET disabled_at = ? WHERE id = ?', [at, id]);
  await setDisabled(1);
  await examples.send('transferOrg', { by: owner, path: { orgId }, body: { userId: id } });
  await examples.send('changeMemberRole', {
    by: owner,
    path: { orgId, userId: id },
    body: { role: 'owner' },
  });
  await setDisabled(null);
}

/** Of two, so that there is a next one. */
async function listPages(examples: ExampleAnswers, service: Service): Promise<void> {
  const by = await anAccount(service);
  await anOrgOf(by);
  const second = anUnknownId();
  await service.db.query(
    "INSERT INTO orgs (id, name, revision, created_at) VALUES (?, 'Analytical Engines', 1, 1)",
    [second],
  );
  await service.db.query(
    "INSERT INTO members (org_id, user_id, email, role, joined_at) VALUES (?, ?, ?, 'owner', 1700000000000)",
    [second, by.id, by.email],
  );
  await examples.send('listOwnOrgs', { by, query: '?limit=1' });
  for (const { id } of (await by.get<{ orgs: { id: string }[] }>('/api/me/orgs')).body.orgs)
    await by.delete(`/api/orgs/${id}`);
  await examples.send('listDeletedOrgs', { by, query: '?limit=1' });
  for (const id of ['listOwnOrgs', 'listDeletedOrgs']) await examples.send(id, { by, query: '?limit=0' });
}
