import { beforeAll, describe, expect, it } from 'vitest';
import { hashApiKey, isApiKey, newApiKey } from '../../src/api-keys/api-key-format.js';
import type { Answer } from '../support/answer.js';
import { atOnce, times } from '../support/at-once.js';
import type { Caller } from '../support/caller.js';
import {
  boundTokenRefused,
  insufficientUserAuthentication,
  invalidFields,
  invalidToken,
  keyNotFound,
  directSessionRequired,
  tooManyKeys,
} from '../support/expected.js';
import { readFeed, readFeedAfter } from '../support/feed.js';
import { answerAfter, type HeldRows } from '../support/held-rows.js';
import { DAY_MS, verified } from '../support/inviting.js';
import { startMailing } from '../support/mailing.js';
import { type Account, anAccount, anOrgOf, anUnknownId, byCode } from '../support/personas.js';
import { allRows, insertRows } from '../support/rows.js';
import { aBoundToken, aServiceCaller, type ServiceCaller } from '../support/services.js';

const PATH = '/api/me/keys';
const INJECTION = '<img src=x onerror=alert(1)>';
const MAX_OWN_KEYS = 50;

interface Shown {
  id: string;
  state: string;
  expiresAt: string;
}

interface Created {
  apiKey: Shown;
  key: string;
}

const { service, mailServer } = await startMailing({ RATE_LIMIT_WRITES: 'off', RATE_LIMIT_LOGIN: 'off' });
const { db } = service;
let billing: ServiceCaller;
let ledger: ServiceCaller;

beforeAll(async () => {
  billing = await aServiceCaller(service, 'events', 'keys');
  ledger = await aServiceCaller(service, 'events', 'keys');
});

const wish = (more: object = {}) => ({ name: 'nightly export', audience: billing.name, ...more });
const create = (by: Caller, more: object = {}): Promise<Answer<Created>> => by.post(PATH, wish(more));
const listed = async (by: Caller) => (await by.get<{ apiKeys: Shown[]; audiences: string[] }>(PATH)).body;
const eventsOf = ({ id }: { id: string }) =>
  db.query("SELECT type, data FROM events WHERE user_id = ? AND type LIKE 'key.%' ORDER BY id", [id]);

async function made(by: Caller, more: object = {}): Promise<Created> {
  const { status, body, text } = await create(by, more);
  expect(status, text).toBe(201);
  return body;
}

/** As if they had been made before; the fields that no test reads are those of `wish`. */
async function insertKeys(user: Account, count: number, more: object = {}): Promise<string[]> {
  const ids = times(count, anUnknownId);
  const life = { created_at: Date.now(), expires_at: Date.now() + DAY_MS };
  const shared = {
    user_id: user.id,
    audience: billing.name,
    role: 'member',
    name: 'older',
    ...life,
    ...more,
  };
  await insertRows(
    db,
    'api_keys',
    ids.map((id) => ({ id, hash: hashApiKey(newApiKey()) })),
    shared,
  );
  return ids;
}

describe("a user's own API keys", () => {
  it('are made, shown once, listed and revoked', async () => {
    const ada = await verified(db, await anAccount(service, 'ada'));
    const cursors = await Promise.all([billing, ledger].map(async (one) => (await readFeed(one)).next));
    const asked = Date.now();
    const { apiKey, key } = await made(ada, { name: ' Nightly  export ', role: 'admin' });
    expect(isApiKey(key)).toBe(true);
    const { id, createdAt, expiresAt } = apiKey as unknown as Record<string, string>;
    const [from, until] = [Date.parse(createdAt!), Date.parse(expiresAt!)];
    expect(from).toBeGreaterThanOrEqual(asked);
    expect(until - from).toBe(90 * DAY_MS);
    expect(apiKey).toEqual({
      id,
      name: 'Nightly  export',
      audience: billing.name,
      role: 'admin',
      state: 'active',
      createdAt,
      expiresAt,
      lastUsedAt: null,
    });

    const expiry = new Date(Date.now() + DAY_MS).toISOString();
    const other = await made(ada, { audience: ledger.name, expiresAt: expiry });
    expect(other.apiKey).toMatchObject({ role: 'member', expiresAt: expiry });
    const { apiKeys, audiences } = await listed(ada);
    expect(apiKeys).toEqual([other.apiKey, apiKey]);
    expect(audiences).toEqual(audiences.toSorted());
    expect(audiences).toEqual(expect.arrayContaining([billing.name, ledger.name]));
    const stored = JSON.stringify(await allRows(db));
    expect([key, other.key].filter((one) => stored.includes(one))).toEqual([]);
    expect(stored).toContain(hashApiKey(key));

    const mails = await Promise.all([1, 2].map((count) => mailServer.next(ada.email, count)));
    expect(mails[1]).toMatchObject({ subject: 'You have a new API key' });
    expect(mailServer.to(ada.email).filter(({ text }) => text.includes(billing.name))).toHaveLength(1);

    expect(await ada.delete(`${PATH}/${id}`)).toMatchObject({ status: 200, body: { ok: true } });
    expect((await listed(ada)).apiKeys).toEqual([other.apiKey]);
    expect(await ada.delete(`${PATH}/${id}`)).toMatchObject(keyNotFound);

    const createdOf = (one: Created, { name }: ServiceCaller, role: string) => ({
      type: 'key.created',
      orgId: null,
      userId: ada.id,
      userRevision: expect.any(Number) as number,
      actor: { type: 'user', id: ada.id },
      data: { keyId: one.apiKey.id, service: name, role },
    });
    const revoked = { type: 'key.revoked', userId: ada.id, data: { keyId: id, reason: 'revoked' } };
    const told = await Promise.all(
      [billing, ledger].map(async (one, at) =>
        (await readFeedAfter(one, cursors[at]!)).filter(
          ({ userId, type }) => userId === ada.id && type.startsWith('key.'),
        ),
      ),
    );
    expect(told).toMatchObject([
      [createdOf({ apiKey, key }, billing, 'admin'), revoked],
      [createdOf(other, ledger, 'member'), revoked],
    ]);
  });

  it('belong to the user alone, and keys of organizations are none of them', async () => {
    const [ada, grace] = [await anAccount(service, 'ada'), await anAccount(service, 'grace')];
    const org = await anOrgOf(ada);
    const own = (await made(ada)).apiKey.id;
    const [ofOrg] = await insertKeys(ada, 1, { org_id: org.id });
    expect((await listed(ada)).apiKeys.map(({ id }) => id)).toEqual([own]);
    expect((await listed(grace)).apiKeys).toEqual([]);
    const refused: [Caller, string][] = [
      [grace, own],
      [ada, ofOrg!],
      [ada, anUnknownId()],
      [ada, 'x'.repeat(300)],
      [ada, '%00'],
    ];
    for (const [by, id] of refused) expect(await by.delete(`${PATH}/${id}`)).toMatchObject(keyNotFound);
    expect((await listed(ada)).apiKeys).toHaveLength(1);
    expect((await eventsOf(ada)).map(({ type }) => type)).toEqual(['key.created']);
  });

  it.each<[field: string, more: object]>([
    ['name', { name: '' }],
    ['name', { name: '  ' }],
    ['name', { name: 'x'.repeat(61) }],
    ['name', { name: 'a\r\nb' }],
    ['name', { name: 'a\u0000b' }],
    ['name', { name: ['x'] }],
    ['name', { name: undefined }],
    ['audience', { audience: undefined }],
    ['audience', { audience: null }],
    ['audience', { audience: '' }],
    ['audience', { audience: 'Billing' }],
    ['audience', { audience: "x' OR 1=1--" }],
    ['audience', { audience: ['billing'] }],
    ['audience', { audience: 'no-such-service' }],
    ['role', { role: 'root' }],
    ['role', { role: null }],
    ['role', { role: ['member'] }],
    ['expiresAt', { expiresAt: '2020-01-01T00:00:00Z' }],
    ['expiresAt', { expiresAt: '2099-01-01T00:00:00Z' }],
    ['expiresAt', { expiresAt: Date.now() + DAY_MS }],
    ['expiresAt', { expiresAt: '2026-12-24' }],
    ['expiresAt', { expiresAt: '2026-12-24T00:00:00' }],
    ['expiresAt', { expiresAt: '2026-02-30T00:00:00Z' }],
    ['expiresAt', { expiresAt: null }],
    ['expiresAt', { expiresAt: '' }],
  ])('need a valid %s: %j', async (field, more) => {
    const ada = await anAccount(service, 'ada');
    expect(await create(ada, more)).toMatchObject(invalidFields(field));
    expect((await listed(ada)).apiKeys).toEqual([]);
  });

  it('have any name of one line', async () => {
    const ada = await verified(db, await anAccount(service, 'ada'));
    const names = [
      '😀'.repeat(60),
      INJECTION,
      '\u202Eevil\u202C',
      'null',
      "Robert'); DROP TABLE api_keys;--",
    ];
    for (const name of names) expect((await made(ada, { name })).apiKey).toMatchObject({ name });
    expect((await listed(ada)).apiKeys).toMatchObject(names.toReversed().map((name) => ({ name })));
  });

  it('are for a service that is enabled and accepts API keys', async () => {
    const ada = await anAccount(service, 'ada');
    const [without, disabled] = [await aServiceCaller(service), await aServiceCaller(service, 'keys')];
    await disabled.client.disable();
    for (const { name } of [without, disabled])
      expect(await create(ada, { audience: name })).toMatchObject(invalidFields('audience'));
    const { audiences } = await listed(ada);
    expect([without, disabled].filter(({ name }) => audiences.includes(name))).toEqual([]);
  });

  it('are not made for a service that stopped accepting them since the request was let in', async () => {
    const ada = await anAccount(service, 'ada');
    const switched = await aServiceCaller(service, 'keys');
    const change = async (held: HeldRows): Promise<void> => {
      await held.write("UPDATE services SET allow = '' WHERE name = ?", [switched.name]);
      await held.write('UPDATE users SET revision = revision + 1 WHERE id = ?', [ada.id]);
    };
    const late = await answerAfter(service, change, () => create(ada, { audience: switched.name }));
    expect(late).toMatchObject(invalidFields('audience'));
    expect(await eventsOf(ada)).toEqual([]);
  });

  it('are listed as suspended or expired while they do not work', async () => {
    const ada = await anAccount(service, 'ada');
    const switched = await aServiceCaller(service, 'keys');
    const { id } = (await made(ada, { audience: switched.name })).apiKey;
    const allow = (scopes: string) =>
      db.query('UPDATE services SET allow = ? WHERE name = ?', [scopes, switched.name]);
    const stateOf = async () => (await listed(ada)).apiKeys.find((one) => one.id === id)?.state;
    await allow('introspect');
    expect(await stateOf()).toBe('suspended');
    await allow('introspect,keys');
    expect(await stateOf()).toBe('active');
    await switched.client.disable();
    expect(await stateOf()).toBe('suspended');
    await db.query('UPDATE api_keys SET expires_at = 1 WHERE id = ?', [id]);
    expect(await stateOf()).toBe('expired');
    expect((await ada.delete(`${PATH}/${id}`)).status).toBe(200);
  });

  it('need a login of the last 15 minutes to be made, and a login to be revoked', async () => {
    const ada = await anAccount(service, 'ada');
    const { id } = (await made(ada)).apiKey;
    const derived = await byCode(service, ada);
    const bound = ada.as(await aBoundToken(billing, ada));
    const refused = await create(derived);
    expect(refused).toMatchObject(insufficientUserAuthentication);
    expect(await derived.delete(`${PATH}/${id}`)).toMatchObject(directSessionRequired);
    expect((await listed(derived)).apiKeys).toHaveLength(1);
    expect(await create(bound)).toMatchObject(boundTokenRefused);
    expect(await bound.get(PATH)).toMatchObject(boundTokenRefused);

    await db.query('UPDATE sessions SET auth_time = auth_time - 901000 WHERE user_id = ?', [ada.id]);
    const late = await create(ada);
    expect(late).toMatchObject(insufficientUserAuthentication);
    expect(late.headers.get('www-authenticate')).toMatch(/ max_age=900$/);
    expect(late.body).toMatchObject({
      detail: expect.stringMatching(/requires a recent login/) as string,
    });
    expect((await ada.delete(`${PATH}/${id}`)).status).toBe(200);
  });

  it('are not made by a session that has ended since the request was let in', async () => {
    const ada = await anAccount(service, 'ada');
    const sql = 'UPDATE users SET auth_epoch = auth_epoch + 1 WHERE id = ?';
    const late = await answerAfter(
      service,
      (held) => held.write(sql, [ada.id]),
      () => create(ada),
    );
    expect(late).toMatchObject(invalidToken);
    expect(await db.query('SELECT id FROM api_keys WHERE user_id = ?', [ada.id])).toEqual([]);
  });

  it('are 50 at most, expired ones included, but not those of organizations', async () => {
    const ada = await anAccount(service, 'ada');
    const org = await anOrgOf(ada);
    await insertKeys(ada, 5, { org_id: org.id });
    await insertKeys(ada, 3, { expires_at: 1 });
    const [first] = await insertKeys(ada, MAX_OWN_KEYS - 3 - 5);
    const answers = await atOnce(times(12, () => () => create(ada)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(5);
    for (const answer of answers.filter(({ status }) => status !== 201))
      expect(answer).toMatchObject(tooManyKeys);
    expect((await listed(ada)).apiKeys).toHaveLength(MAX_OWN_KEYS);
    expect(await eventsOf(ada)).toHaveLength(5);
    await ada.delete(`${PATH}/${first}`);
    expect((await create(ada)).status).toBe(201);
  });

  it('survive a password change', async () => {
    const ada = await anAccount(service, 'ada');
    const { id } = (await made(ada)).apiKey;
    const change = { currentPassword: ada.password, newPassword: `${ada.password}-2` };
    expect((await ada.put('/api/me/password', change)).status).toBe(200);
    expect((await listed(ada)).apiKeys).toMatchObject([{ id, state: 'active' }]);
  });
});
