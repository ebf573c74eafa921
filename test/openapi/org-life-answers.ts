import { type Account, anAccount, anOrgOf, anUnknownId, byCode, join } from '../support/personas.js';
import type { Service } from '../support/service.js';
import type { ExampleAnswers } from './example-answers.js';

/** Gets answered what becomes of an organization, in one of its own for each that ends it. */
export async function collectOrgLifeAnswers(examples: ExampleAnswers, service: Service): Promise<void> {
  const [owner, member] = await Promise.all([anAccount(service, 'owner'), anAccount(service, 'member')]);
  const org = await anOrgOf(owner);
  await join(org, owner, member, 'member');
  const path = { orgId: org.id };
  const derived = await byCode(service, owner);

  await examples.send('renameOrg', { by: owner, path });
  await examples.send('leaveOrg', { by: owner, path });
  for (const id of ['transferOrg', 'deleteOrg', 'restoreOrg', 'leaveOrg'])
    await examples.send(id, { by: derived, path });
  const ofOwner = { by: derived, path: { ...path, userId: owner.id } };
  for (const id of ['changeMemberRole', 'removeMember']) await examples.send(id, ofOwner);
  for (const id of ['transferOrg', 'deleteOrg']) await examples.send(id, { by: member, path });
  await refuseDisabled(examples, service, owner, member, org.id);
  await examples.send('deleteOrg', { by: owner, path });
  await examples.send('restoreOrg', { by: owner, path });
  await examples.send('restoreOrg', { by: owner, path });
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
