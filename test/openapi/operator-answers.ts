import { makeOperator, anOperator } from '../support/operators.js';
import { anAccount, anOrgOf, anUnknownId, join } from '../support/personas.js';
import type { Service } from '../support/service.js';
import { aServiceClient } from '../support/services.js';
import type { ExampleAnswers } from './example-answers.js';

const OF_ACCOUNTS = [
  'enableUser',
  'endUserSessions',
  'verifyUserEmail',
  'removeUserSecondFactor',
  'issueResetCode',
  'disableUser',
  'deleteUser',
];

/** Gets answered what operators ask, before anybody is there whom the other examples are about. */
export async function collectOperatorAnswers(examples: ExampleAnswers, service: Service): Promise<void> {
  const by = await anOperator(service);
  const withoutFactor = await anAccount(service);
  await makeOperator(service, withoutFactor);

  for (const id of examples.operationsOf('Operators')) await examples.send(id, { by: withoutFactor });
  for (const id of examples.operationsOf('Operators', true)) {
    await examples.send(id, { by, body: id === 'makeOwner' ? { userId: by.id } : {} });
  }
  for (const id of [...OF_ACCOUNTS, 'makeOwner']) {
    const body = id === 'makeOwner' ? { userId: by.id, reason: 'a test' } : undefined;
    await examples.send(id, { by, path: { userId: by.id }, ...(body && { body }) });
    await examples.send(id, { by, path: { userId: anUnknownId() } });
  }
  await changeAccounts(examples, service, by);
  await changeOrgs(examples, service, by);
  await changeServices(examples, service, by);
  await retryMails(examples, service, by);
}

type Operator = Awaited<ReturnType<typeof anOperator>>;

async function changeAccounts(examples: ExampleAnswers, service: Service, by: Operator): Promise<void> {
  for (const id of ['disableUser', 'deleteUser']) {
    const owner = await anAccount(service);
    const org = await anOrgOf(owner);
    await join(org, owner, await anAccount(service), 'member');
    await examples.send(id, { by, path: { userId: owner.id } });
    await examples.send(id, { by, path: { userId: owner.id }, body: { reason: 'a test', force: true } });
  }
  const user = await anAccount(service);
  for (const id of OF_ACCOUNTS) {
    await examples.send(id, { by, path: { userId: user.id } });
    if (id === 'disableUser') await examples.send('issueResetCode', { by, path: { userId: user.id } });
  }
}

async function changeOrgs(examples: ExampleAnswers, service: Service, by: Operator): Promise<void> {
  const [owner, other, busy] = await Promise.all([
    anAccount(service),
    anAccount(service),
    anAccount(service),
  ]);
  const org = await anOrgOf(owner);
  const path = { orgId: org.id };
  const makeOwner = (userId: string, force = false): Promise<unknown> =>
    examples.send('makeOwner', { by, path, body: { userId, reason: 'a test', force } });
  await makeOwner(other.id);
  await makeOwner(owner.id);
  await anOrgOf(busy);
  await makeOwner(busy.id, true);
  await service.db.query('UPDATE users SET disabled_at = 1 WHERE id = ?', [other.id]);
  await makeOwner(other.id);
  await examples.send('makeOwner', { by, body: { userId: owner.id, reason: 'a test' } });

  for (const id of ['deleteOrgAsOperator', 'restoreOrgAsOperator']) {
    await examples.send(id, { by });
    await examples.send(id, { by, path });
  }
  await examples.send('deleteOrgAsOperator', { by, path });
  await service.db.query('UPDATE users SET disabled_at = 1 WHERE id = ?', [owner.id]);
  await examples.send('restoreOrgAsOperator', { by, path });
}

async function changeServices(examples: ExampleAnswers, service: Service, by: Operator): Promise<void> {
  const { name } = await aServiceClient(service.db);
  for (const id of ['disableService', 'enableService']) {
    await examples.send(id, { by });
    await examples.send(id, { by, path: { name } });
  }
  await service.db.query('UPDATE services SET disabled_at = 1, removed_at = 1 WHERE name = ?', [name]);
  await examples.send('enableService', { by, path: { name } });
}

async function retryMails(examples: ExampleAnswers, service: Service, by: Operator): Promise<void> {
  const path = { mailId: anUnknownId() };
  await service.db.query(
    `INSERT INTO mails (id, kind, recipient, state, created_at, next_attempt_at, ended_at)
      VALUES (?, 'password_changed', 'nobody@example.com', 'failed', 1, 1, 1)`,
    [path.mailId],
  );
  await examples.send('retryMail', { by });
  await examples.send('retryMail', { by, path });
  await service.db.query("UPDATE mails SET kind = 'email_verification' WHERE id = ?", [path.mailId]);
  await examples.send('retryMail', { by, path });
  await service.db.query("UPDATE mails SET state = 'dropped' WHERE id = ?", [path.mailId]);
  await examples.send('retryMail', { by, path });
}
