import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { hashApiKey, isApiKey } from '../../src/api-keys/api-key-format.js';
import { accessCases, callerFor, idAt } from '../support/access-cases.js';
import { atOnce, times } from '../support/at-once.js';
import type { Caller } from '../support/caller.js';
import {
  boundTokenRefused,
  idempotencyKeyReused,
  insufficientRole,
  insufficientUserAuthentication,
  invalidFields,
  invalidToken,
  keyNotFound,
  notAMember,
  orgNotFound,
  preconditionFailed,
  directSessionRequired,
  tooManyKeys,
} from '../support/expected.js';
import { readFeed, readFeedAfter } from '../support/feed.js';
import { answerAfter } from '../support/held-rows.js';
import { verified } from '../support/inviting.js';
import { startMailing } from '../support/mailing.js';
import { type CreatedKey, insertKeys, keysPath, makeKey, OWN_KEYS } from '../support/org-keys.js';
import { changeRole, disable, enable, removeMember } from '../support/org-members.js';
import {
  type Account,
  anAccount,
  anOrg,
  anOrgOf,
  anUnknownId,
  byCode,
  type Cast,
  type Org,
  ROLES,
} from '../support/personas.js';
import { allRows } from '../support/rows.js';
import { aBoundToken, aServiceCaller, type ServiceCaller } from '../support/services.js';

const MAX_ORG_KEYS = 100;

const { service, mailServer } = await startMailing({ RATE_LIMIT_REGISTER: 'off', RATE_LIMIT_WRITES: 'off' });
const { db } = service;
let billing: ServiceCaller;

beforeAll(async () => {
  billing = await aServiceCaller(service, 'events', 'keys');
});

const create = (by: Caller, org: Org, more: object = {}) => makeKey(by, keysPath(org), billing, more);
const listed = async (by: Caller, org: Org) =>
  (await by.get<{ apiKeys: CreatedKey['apiKey'][]; audiences: string[] }>(keysPath(org))).body;
const eventsOf = ({ id }: Org) =>
  db.query("SELECT type, user_id FROM events WHERE org_id = ? AND type LIKE 'key.%' ORDER BY id", [id]);

async function made(by: Caller, org: Org, more: object = {}): Promise<CreatedKey> {
  const { status, body, text } = await create(by, org, more);
  expect(status, text).toBe(201);
  return body;
}

describe('API keys of an organization', () => {
  it('are made by admins, shown once, listed for all admins, and revoked by any of them', async () => {
    const { org, owner, admin } = await anOrg(service);
    await verified(db, admin);
    const ledger = await aServiceCaller(service, 'events', 'keys');
    const cursors = await Promise.all([billing, ledger].map(async (one) => (await readFeed(one)).next));
    const answer = await create(admin, org, { role: 'admin' });
    expect(answer.status, answer.text).toBe(201);
    const { apiKey, key } = answer.body;
    expect(isApiKey(key)).toBe(true);
    const { id } = apiKey;
    expect(apiKey).toMatchObject({ name: 'nightly export', audience: billing.name, role: 'admin' });
    expect(apiKey).toMatchObject({ state: 'active', lastUsedAt: null });
    expect(apiKey.user).toEqual({ id: admin.id, email: admin.email });
    const detail = await admin.get(`/api/orgs/${org.id}`);
    expect(answer.headers.get('etag')).toBe(detail.headers.get('etag'));
    const stored = JSON.stringify(await allRows(db));
    expect(stored).not.toContain(key);
    expect(stored).toContain(hashApiKey(key));

    const other = await made(owner, org);
    for (const by of [owner, admin]) {
      const { apiKeys, audiences } = await listed(by, org);
      expect(apiKeys).toEqual([other.apiKey, apiKey]);
      expect(audiences).toContain(billing.name);
    }
    expect((await owner.get<{ apiKeys: [] }>(OWN_KEYS)).body.apiKeys).toEqual([]);
    expect((await mailServer.next(admin.email)).subject).toBe('You have a new API key');

    expect(await owner.delete(`${keysPath(org)}/${id}`)).toMatchObject({ status: 200, body: { ok: true } });
    expect((await listed(owner, org)).apiKeys).toEqual([other.apiKey]);
    expect(await owner.delete(`${keysPath(org)}/${id}`)).toMatchObject(keyNotFound);

    const about = { orgId: org.id, orgRevision: expect.any(Number) as number };
    const created = ({ apiKey: { id: keyId, role, user } }: Pick<CreatedKey, 'apiKey'>) => ({
      ...about,
      type: 'key.created',
      userId: user.id,
      actor: { type: 'user', id: user.id },
      data: { keyId, service: billing.name, role },
    });
    const revoked = {
      ...about,
      type: 'key.revoked',
      userId: admin.id,
      actor: { type: 'user', id: owner.id },
      data: { keyId: id, reason: 'revoked' },
    };
    const told = await Promise.all(
      [billing, ledger].map(async (one, place) =>
        (await readFeedAfter(one, cursors[place]!)).filter(({ type }) => type.startsWith('key.')),
      ),
    );
    expect(told).toMatchObject([[created({ apiKey }), created(other), revoked], [revoked]]);
  });

  it('have at most the role of who makes them', async () => {
    const { org, owner, admin } = await anOrg(service);
    const makers = { admin, owner } as const;
    for (const [maker, by] of Object.entries(makers)) {
      for (const role of ROLES) {
        const answer = await create(by, org, { role });
        const isAbove = maker === 'admin' && role === 'owner';
        expect(answer).toMatchObject(isAbove ? insufficientRole('owner', 'admin') : { status: 201 });
      }
    }
    expect((await listed(admin, org)).apiKeys.map(({ role }) => role)).toEqual([
      'owner',
      'admin',
      'member',
      'admin',
      'member',
    ]);
    expect(await eventsOf(org)).toHaveLength(5);
  });

  it('follow what their user is now, and are still listed, and revoked, without it', async () => {
    const { org, owner, admin } = await anOrg(service);
    const { id } = (await made(admin, org)).apiKey;
    const state = async () => (await listed(owner, org)).apiKeys[0]!.state;
    await disable(db, admin);
    expect(await state()).toBe('suspended');
    await enable(db, admin);
    expect(await state()).toBe('active');
    await changeRole(owner, org, admin, 'member');
    expect(await state()).toBe('active');
    expect(await create(admin, org)).toMatchObject(insufficientRole('admin', 'member'));
    await removeMember(owner, org, admin);
    expect(await state()).toBe('suspended');
    expect(await create(admin, org)).toMatchObject(notAMember);
    expect((await owner.delete(`${keysPath(org)}/${id}`)).status).toBe(200);
    expect(await eventsOf(org)).toMatchObject([
      { type: 'key.created', user_id: admin.id },
      { type: 'key.revoked', user_id: admin.id },
    ]);
  });

  it('are of one organization: neither another one nor their user finds them elsewhere', async () => {
    const [owner, outsider] = [await anAccount(service), await anAccount(service)];
    const [org, sibling, foreign] = [await anOrgOf(owner), await anOrgOf(owner), await anOrgOf(outsider)];
    const { id } = (await made(owner, org)).apiKey;
    const own = (await makeKey(owner, OWN_KEYS, billing)).body.apiKey.id;
    const refused: [Caller, string, object][] = [
      [owner, `${keysPath(sibling)}/${id}`, keyNotFound],
      [owner, `${keysPath(org)}/${own}`, keyNotFound],
      [owner, `${OWN_KEYS}/${id}`, keyNotFound],
      [owner, `${keysPath(org)}/${anUnknownId()}`, keyNotFound],
      [owner, `${keysPath(org)}/${'x'.repeat(300)}`, keyNotFound],
      [owner, `${keysPath(org)}/%00`, keyNotFound],
      [outsider, `${keysPath(foreign)}/${id}`, keyNotFound],
    ];
    for (const [by, path, expected] of refused) expect(await by.delete(path), path).toMatchObject(expected);
    expect((await listed(owner, sibling)).apiKeys).toEqual([]);
    expect((await listed(owner, org)).apiKeys.map((key) => key.id)).toEqual([id]);
    expect(await eventsOf(org)).toHaveLength(1);
  });

  it('need a login of the last 15 minutes to be made, and a login to be revoked', async () => {
    const { org, admin } = await anOrg(service);
    const { id } = (await made(admin, org)).apiKey;
    const path = `${keysPath(org)}/${id}`;
    const derived = await byCode(service, admin);
    expect(await create(derived, org)).toMatchObject(insufficientUserAuthentication);
    expect(await derived.delete(path)).toMatchObject(directSessionRequired);
    expect((await listed(derived, org)).apiKeys).toHaveLength(1);
    const bound = admin.as(await aBoundToken(billing, admin));
    for (const answer of [await create(bound, org), await bound.delete(path), await bound.get(keysPath(org))])
      expect(answer).toMatchObject(boundTokenRefused);

    await db.query('UPDATE sessions SET auth_time = auth_time - 901000 WHERE user_id = ?', [admin.id]);
    const late = await create(admin, org);
    expect(late).toMatchObject(insufficientUserAuthentication);
    expect(late.headers.get('www-authenticate')).toMatch(/ max_age=900$/);
    expect((await admin.delete(path)).status).toBe(200);
  });

  it.each<[field: string, more: object]>([
    ['name', { name: '' }],
    ['name', { name: 'x'.repeat(61) }],
    ['name', { name: 'a\r\nb' }],
    ['audience', { audience: null }],
    ['audience', { audience: 'no-such-service' }],
    ['role', { role: 'root' }],
    ['expiresAt', { expiresAt: '2020-01-01T00:00:00Z' }],
    ['expiresAt', { expiresAt: '2099-01-01T00:00:00Z' }],
    ['expiresAt', { expiresAt: 1 }],
  ])('need a valid %s: %j', async (field, more) => {
    const owner = await anAccount(service);
    const org = await anOrgOf(owner);
    expect(await create(owner, org, more)).toMatchObject(invalidFields(field));
    expect((await listed(owner, org)).apiKeys).toEqual([]);
    expect((await owner.get(`/api/orgs/${org.id}`)).headers.get('etag')).toBe('"1"');
  });

  it('are made once by an Idempotency-Key, whose replay has no key', async () => {
    const owner = await anAccount(service);
    const org = await anOrgOf(owner);
    const retried = owner.with({ 'idempotency-key': randomUUID() });
    const first = await made(retried, org);
    const replayed = await create(retried, org);
    expect(replayed).toMatchObject({ status: 201, body: { apiKey: first.apiKey } });
    expect(replayed.headers.get('idempotency-replayed')).toBe('true');
    expect(replayed.body).not.toHaveProperty('key');
    expect(await create(retried, org, { role: 'admin' })).toMatchObject(idempotencyKeyReused);
    expect((await listed(owner, org)).apiKeys).toHaveLength(1);
    const allow = (scopes: string) =>
      db.query('UPDATE services SET allow = ? WHERE name = ?', [scopes, billing.name]);
    await allow('');
    expect(await create(retried, org)).toMatchObject({ status: 201, body: { apiKey: first.apiKey } });
    await allow('events,keys');

    const revoking = owner.with({ 'idempotency-key': randomUUID() });
    const path = `${keysPath(org)}/${first.apiKey.id}`;
    for (const replay of [null, 'true']) {
      const answer = await revoking.delete(path);
      expect(answer).toMatchObject({ status: 200, body: { ok: true } });
      expect(answer.headers.get('idempotency-replayed')).toBe(replay);
    }
    expect(await eventsOf(org)).toHaveLength(2);
  });

  it('are made and revoked only while the organization is what the caller has seen', async () => {
    const owner = await anAccount(service);
    const org = await anOrgOf(owner);
    const { id } = (await made(owner, org)).apiKey;
    const [stale, current] = ['"1"', '"2"'].map((tag) => owner.with({ 'if-match': tag }));
    expect(await create(stale!, org)).toMatchObject(preconditionFailed);
    expect(await stale!.delete(`${keysPath(org)}/${id}`)).toMatchObject(preconditionFailed);
    const revoked = await current!.delete(`${keysPath(org)}/${id}`);
    expect([revoked.status, revoked.headers.get('etag')]).toEqual([200, '"3"']);
    expect(await owner.post(`${keysPath(org)}?dryRun=true`, {})).toMatchObject(invalidFields('dryRun'));
  });

  it('are not made by a session that has ended since the request was let in', async () => {
    const { admin, org } = await anOrg(service);
    const sql = 'UPDATE users SET auth_epoch = auth_epoch + 1 WHERE id = ?';
    const late = await answerAfter(
      service,
      (held) => held.write(sql, [admin.id]),
      () => create(admin, org),
    );
    expect(late).toMatchObject(invalidToken);
    expect(await db.query('SELECT id FROM api_keys WHERE org_id = ?', [org.id])).toEqual([]);
  });

  it('are 100 at most, however many are made at once, and own ones do not count', async () => {
    const { org, owner, admin } = await anOrg(service);
    await insertKeys(db, 3, { user: owner, audience: billing });
    await insertKeys(db, MAX_ORG_KEYS - 4, { user: admin, audience: billing, orgId: org.id });
    const answers = await atOnce(times(10, (turn) => () => create(turn % 2 ? owner : admin, org)));
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused).toHaveLength(6);
    for (const answer of refused) expect(answer).toMatchObject(tooManyKeys);
    expect((await listed(owner, org)).apiKeys).toHaveLength(MAX_ORG_KEYS);
  });

  it('of a deleted organization are gone for its admins, and there again if it is restored', async () => {
    const owner = await anAccount(service);
    const org = await anOrgOf(owner);
    const { apiKey } = await made(owner, org);
    expect((await owner.delete(`/api/orgs/${org.id}`)).status).toBe(200);
    expect(await owner.get(keysPath(org))).toMatchObject(orgNotFound);
    expect(await create(owner, org)).toMatchObject(orgNotFound);
    expect((await owner.post(`/api/orgs/${org.id}/restore`)).status).toBe(200);
    expect((await listed(owner, org)).apiKeys).toEqual([apiKey]);
  });
});

describe('access', () => {
  const routes = [
    { name: 'list', success: 200, least: 'admin' as const },
    { name: 'create', success: 201, least: 'admin' as const },
    { name: 'revoke', success: 200, least: 'admin' as const },
  ];
  let cast: Cast;
  let other: Cast;
  let anOwner: Account;

  beforeAll(async () => {
    [cast, other] = [await anOrg(service), await anOrg(service)];
    anOwner = cast.owner;
  });

  it.each(accessCases(routes))(
    '$route.name by $actor, $place organization: $expected.status',
    async ({ route, actor, place, expected }) => {
      const by = callerFor(actor, service, cast, other);
      const org = { id: idAt(place, cast.org.id), name: '' };
      const { id } = (await made(anOwner, cast.org)).apiKey;
      const answer =
        route.name === 'list'
          ? await by.get(keysPath(org))
          : route.name === 'create'
            ? await create(by, org)
            : await by.delete(`${keysPath(org)}/${id}`);
      expect(answer).toMatchObject(expected);
    },
  );
});
