import { beforeAll, expect, it } from 'vitest';
import { hashApiKey, newApiKey } from '../../src/api-keys/api-key-format.js';
import { atOnce, times } from '../support/at-once.js';
import { invalidFields } from '../support/expected.js';
import { readFeed, readFeedAfter } from '../support/feed.js';
import { DAY_MS, verified } from '../support/inviting.js';
import { startMailing } from '../support/mailing.js';
import { anOperator } from '../support/operators.js';
import { disable } from '../support/org-members.js';
import { type Account, anAccount, anOrgOf, anUnknownId } from '../support/personas.js';
import { insertRow } from '../support/rows.js';
import { aServiceCaller, type ServiceCaller } from '../support/services.js';

const { service, mailServer } = await startMailing({ RATE_LIMIT_WRITES: 'off' });
const { db, anyone } = service;
const OK = '{"ok":true}';

/** Follows the feed; API keys are for another service. */
let reader: ServiceCaller;
let audience: string;

beforeAll(async () => {
  reader = await aServiceCaller(service, 'events');
  audience = (await aServiceCaller(service, 'keys')).name;
});

const report = (key: unknown) => anyone.post('/api/keys/revoke', { key });

async function aKeyOf(user: Account, orgId: string | null = null): Promise<{ id: string; key: string }> {
  const [id, key] = [anUnknownId(), newApiKey()];
  service.installation.secrets.note(key);
  const life = { created_at: Date.now(), expires_at: Date.now() + DAY_MS };
  const owner = { user_id: user.id, org_id: orgId };
  const row = { id, hash: hashApiKey(key), ...owner, audience, role: 'member', name: 'in a file', ...life };
  await insertRow(db, 'api_keys', row);
  return { id, key };
}

const exists = async ({ id }: { id: string }) =>
  (await db.query('SELECT id FROM api_keys WHERE id = ?', [id])).length === 1;
const revocations = async (after: string) =>
  (await readFeedAfter(reader, after)).filter(({ type }) => type === 'key.revoked');

it('answers the same to every text', async () => {
  const ada = await anAccount(service, 'ada');
  const kept = await aKeyOf(ada);
  const { key } = kept;
  const swapped = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');
  const texts = [
    '',
    'ack_',
    newApiKey(),
    swapped,
    key.toUpperCase(),
    key.replace('_', '%5F'),
    key.slice(0, -1),
    `acs_${key.slice(4)}`,
    'x'.repeat(15 * 1024),
    `ack_${'a'.repeat(15 * 1024)}`,
    '\u0000',
    '\ud800',
    ada.token,
  ];
  for (const text of texts) {
    const answer = await report(text);
    expect([answer.status, answer.text], text.slice(0, 60)).toEqual([200, OK]);
  }
  expect(await exists(kept)).toBe(true);
  const found = await report(key);
  expect([found.status, found.text]).toEqual([200, OK]);
  expect(await exists(kept)).toBe(false);
});

it.each<[string, (key: string) => string]>([
  ['a line break after it', (key) => `${key}\n`],
  ['spaces around it', (key) => ` ${key} `],
  ['quotes', (key) => `"${key}"`],
  ['its scheme', (key) => `Bearer ${key}`],
  ['the name of a variable', (key) => `ACCOUNTS_KEY=${key}`],
  ['15 KiB before it', (key) => `${'ack_'.repeat(3_840)}${key}`],
])('finds the key in a text with %s', async (_what, textWith) => {
  const ada = await anAccount(service, 'ada');
  const [found, further] = [await aKeyOf(ada), await aKeyOf(ada)];
  const answer = await report(`${textWith(found.key)}, ${further.key}`);
  expect([answer.status, answer.text]).toEqual([200, OK]);
  expect([await exists(found), await exists(further)]).toEqual([false, true]);
});

it.each([[undefined], [null], [['x']], [{ key: 'x' }], [1], [true]])('takes only text: %j', async (key) => {
  expect(await report(key)).toMatchObject(invalidFields('key'));
});

it('revokes a key of a user for good, by anyone and once', async () => {
  const ada = await verified(db, await anAccount(service, 'ada'));
  const { id, key } = await aKeyOf(ada);
  const other = await aKeyOf(ada);
  const { next } = await readFeed(reader);
  const answers = await atOnce(times(6, () => () => report(key)));
  expect(answers.map(({ status, text }) => [status, text])).toEqual(times(6, () => [200, OK]));
  expect([await exists({ id }), await exists(other)]).toEqual([false, true]);
  const event = { userId: ada.id, orgId: null, data: { keyId: id, reason: 'reported' } };
  expect(await revocations(next)).toMatchObject([
    { ...event, actor: { type: 'system', id: null }, userRevision: expect.any(Number) as number },
  ]);
  const { subject, text } = await mailServer.next(ada.email);
  expect(subject).toBe('Your API key was found and revoked');
  expect(text).toContain('in a file');
  await report(other.key);
  expect(await mailServer.next(ada.email, 2)).toBeDefined();
  expect(mailServer.to(ada.email)).toHaveLength(2);
});

it('is in the audit log of the user with the IP address of the request', async () => {
  const ada = await anAccount(service, 'ada');
  await report((await aKeyOf(ada)).key);
  const { body } = await ada.get<{ events: object[] }>('/api/me/events?type=key.revoked');
  expect(body.events).toMatchObject([
    { type: 'key.revoked', actor: { type: 'system' }, ip: expect.any(String) as string },
  ]);
});

it('revokes a key of an organization, also of a deleted one', async () => {
  const ada = await verified(db, await anAccount(service, 'ada'));
  const org = await anOrgOf(ada);
  const { next } = await readFeed(reader);
  const [live, kept] = [await aKeyOf(ada, org.id), await aKeyOf(ada, org.id)];
  await report(live.key);
  expect((await ada.delete(`/api/orgs/${org.id}`)).status).toBe(200);
  await report(kept.key);
  expect([await exists(live), await exists(kept)]).toEqual([false, false]);
  const ofOrg = { orgId: org.id, userId: ada.id, userRevision: null };
  expect(await revocations(next)).toMatchObject([
    { ...ofOrg, orgRevision: 2, data: { keyId: live.id, reason: 'reported' } },
    { ...ofOrg, orgRevision: 4, data: { keyId: kept.id, reason: 'reported' } },
  ]);
  expect(await mailServer.next(ada.email, 2)).toBeDefined();
});

it('revokes a key of a disabled user, and one that has expired', async () => {
  const ada = await anAccount(service, 'ada');
  const keys = [await aKeyOf(ada), await aKeyOf(ada)];
  await db.query('UPDATE api_keys SET expires_at = 1 WHERE id = ?', [keys[1]!.id]);
  await disable(db, ada);
  for (const { key } of keys) await report(key);
  expect(await Promise.all(keys.map(exists))).toEqual([false, false]);
});

it('sends no such email about an API key that an operator revoked', async () => {
  const ada = await verified(db, await anAccount(service, 'ada'));
  const operator = await anOperator(service);
  for (const orgId of [null, (await anOrgOf(ada)).id]) {
    const { id } = await aKeyOf(ada, orgId);
    const answer = await operator.post(`/api/operators/keys/${id}/revoke`, { reason: 'a test' });
    expect(answer.status, answer.text).toBe(200);
  }
  const sql = "SELECT id FROM mails WHERE sender_id = ? AND kind = 'key_reported'";
  expect(await db.query(sql, [ada.id])).toEqual([]);
});
