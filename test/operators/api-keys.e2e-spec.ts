import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { insertApiKey } from '../support/api-keys.js';
import { invalidFields, keyNotFound, operatorProtected } from '../support/expected.js';
import { eventsSince, knownEvents } from '../support/feed.js';
import { anOperator } from '../support/operators.js';
import { pagesOf } from '../support/pages.js';
import { type Account, anAccount, anOrg, anUnknownId, type Cast } from '../support/personas.js';
import { startOwnService } from '../support/service.js';
import {
  aServiceCaller,
  aServiceClient,
  type ServiceCaller,
  type ServiceClient,
} from '../support/services.js';

const BELOW = '/api/operators/keys';
const A_TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/) as string;

interface Shown {
  id: string;
  state: string;
}

// An own one, because a list without a filter has every API key.
const service = await startOwnService({ env: { RATE_LIMIT_REGISTER: 'off' } });
afterAll(() => service.stop());
const { db } = service;

describe('API keys, as operators see them', () => {
  let operator: Account;
  let cast: Cast;
  let other: Account;
  let billing: ServiceCaller;
  let ledger: ServiceClient;

  beforeAll(async () => {
    [operator, cast, other] = [await anOperator(service), await anOrg(service), await anAccount(service)];
    billing = await aServiceCaller(service, 'introspect', 'keys');
    ledger = await aServiceClient(db, ['keys']);
  });
  beforeEach(() => db.query('DELETE FROM api_keys'));

  const list = (query = '') => operator.get<{ apiKeys: Shown[]; nextCursor?: string }>(`${BELOW}${query}`);
  const listed = async (query = '') => (await list(query)).body.apiKeys.map(({ id }) => id);
  const revoke = (id: string) => operator.post(`${BELOW}/${id}/revoke`, { reason: 'a leak' });

  it('are listed, all or those of a user, of an organization or for a service, newest first', async () => {
    const { org, admin } = cast;
    const own = await insertApiKey(service, admin, billing);
    const ofOrg = await insertApiKey(service, admin, ledger, { orgId: org.id, role: 'admin' });
    const expired = await insertApiKey(service, other, billing, { expiresAt: 1 });
    const suspended = await insertApiKey(service, other, ledger, { orgId: org.id });

    expect(await listed()).toEqual([suspended, expired, ofOrg, own].map(({ id }) => id));
    expect(await listed(`?userId=${admin.id}`)).toEqual([ofOrg.id, own.id]);
    expect(await listed(`?orgId=${org.id}`)).toEqual([suspended.id, ofOrg.id]);
    expect(await listed(`?audience=${billing.name}`)).toEqual([expired.id, own.id]);
    for (const query of [`userId=${anUnknownId()}`, `orgId=${anUnknownId()}`, 'audience=nobody'])
      expect(await listed(`?${query}`), query).toEqual([]);

    const { body } = await list();
    expect(body.apiKeys.map(({ state }) => state)).toEqual(['suspended', 'expired', 'active', 'active']);
    expect(body.apiKeys[2]).toEqual({
      id: ofOrg.id,
      name: 'nightly export',
      audience: ledger.name,
      role: 'admin',
      state: 'active',
      createdAt: A_TIME,
      expiresAt: A_TIME,
      lastUsedAt: null,
      user: { id: admin.id, email: admin.email },
      orgId: org.id,
    });
    expect(body.apiKeys[3]).toMatchObject({ orgId: null });
  });

  it('come in pages, which lose and repeat none while others are made and revoked', async () => {
    const keys: string[] = [];
    for (const of of [cast.admin, other, cast.admin, other, cast.admin])
      keys.unshift((await insertApiKey(service, of, billing)).id);
    const pages = await pagesOf<Shown>(operator, `${BELOW}?limit=2`, 'apiKeys', async (page) => {
      await insertApiKey(service, other, ledger);
      await revoke(keys[page * 2]!);
    });
    expect(pages.map((page) => page.map(({ id }) => id))).toEqual([
      keys.slice(0, 2),
      keys.slice(2, 4),
      keys.slice(4),
    ]);
    const ofUser = await pagesOf<Shown>(operator, `${BELOW}?limit=1&userId=${other.id}`, 'apiKeys');
    expect(ofUser.flat().map(({ id }) => id)).toEqual(await listed(`?userId=${other.id}`));
    expect(ofUser).toHaveLength(4);
  });

  it('are listed by one filter at most, of a known form', async () => {
    const { org, admin } = cast;
    const filters = { userId: admin.id, orgId: org.id, audience: billing.name };
    const names = Object.keys(filters) as (keyof typeof filters)[];
    for (const left of [...names, undefined]) {
      const given = names.filter((name) => name !== left);
      const query = given.map((name) => `${name}=${filters[name]}`).join('&');
      expect(await list(`?${query}`), query).toMatchObject(invalidFields(...given));
    }
    for (const query of ['userId=x', 'orgId=', 'audience=A%20b', 'audience=', 'limit=0', 'cursor=x'])
      expect(await list(`?${query}`), query).toMatchObject(invalidFields(query.split('=')[0]!));
    expect(await list(`?userId=${admin.id}&userId=${other.id}`)).toMatchObject(invalidFields('userId'));
  });

  it('end at the next request when they are revoked, and cannot be revoked twice', async () => {
    const { org, admin } = cast;
    const { id, key } = await insertApiKey(service, admin, billing);
    const ofOrg = await insertApiKey(service, admin, billing, { orgId: org.id });
    const introspected = async () =>
      (await billing.sendForm<{ active: boolean }>('/api/auth/introspect', `token=${key}`)).body.active;
    expect(await introspected()).toBe(true);
    const known = await knownEvents(db);
    for (const one of [id, ofOrg.id])
      expect(await revoke(one)).toMatchObject({ status: 200, body: { ok: true } });
    expect(await introspected()).toBe(false);
    expect(await listed()).toEqual([]);
    const by = { type: 'key.revoked', actor_type: 'operator', actor_id: operator.id, reason: 'a leak' };
    const events = [
      { ...by, user_id: admin.id, org_id: null, data: { keyId: id, reason: 'operator' } },
      { ...by, user_id: admin.id, org_id: org.id, data: { keyId: ofOrg.id, reason: 'operator' } },
    ];
    expect(await eventsSince(db, known)).toMatchObject(events);
    for (const one of [id, ofOrg.id, anUnknownId(), 'x', key])
      expect(await revoke(one)).toMatchObject(keyNotFound);
    expect(await eventsSince(db, known)).toHaveLength(events.length);
  });

  it('of an operator are protected if they are own ones, from this operator too', async () => {
    const { org } = cast;
    const support = await anOperator(service, 'support');
    const own = [
      await insertApiKey(service, support, billing),
      await insertApiKey(service, operator, billing),
    ];
    const ofOrg = await insertApiKey(service, support, billing, { orgId: org.id });
    const known = await knownEvents(db);
    for (const { id } of own) expect(await revoke(id)).toMatchObject(operatorProtected);
    expect(await eventsSince(db, known)).toEqual([]);
    expect((await revoke(ofOrg.id)).status).toBe(200);
    expect(await listed()).toEqual(own.map(({ id }) => id).toReversed());
  });
});
