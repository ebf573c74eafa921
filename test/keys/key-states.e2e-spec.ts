import { afterAll, describe, expect, it } from 'vitest';
import { hashApiKey, newApiKey } from '../../src/api-keys/api-key-format.js';
import { ApiKeysRepository } from '../../src/api-keys/api-keys.repository.js';
import { IntrospectionController } from '../../src/introspection/introspection.controller.js';
import { IntrospectionModule } from '../../src/introspection/introspection.module.js';
import { LastUses } from '../../src/services/last-uses.js';
import { times } from '../support/at-once.js';
import { openDataLayer } from '../support/data-source.js';
import { DAY_MS } from '../support/inviting.js';
import { anUnknownId } from '../support/personas.js';
import { insertRow, insertRows } from '../support/rows.js';
import { wired } from '../support/wired.js';

const now = Date.now();
const SERVICES = {
  accepting: { allow: 'introspect,keys' },
  'without the scope': { allow: 'introspect' },
  disabled: { allow: 'introspect,keys', disabled_at: 1 },
  removed: { allow: 'introspect,keys', disabled_at: 1, removed_at: 1 },
};
const FROM = { second_factor_from: now - DAY_MS };
const ORGS = {
  plain: {},
  deleted: { deleted_at: 1, purge_at: now + DAY_MS },
  'requiring a factor': FROM,
  'requiring a factor, not recorded yet': { ...FROM, second_factor_due_at: now - DAY_MS },
  'requiring a factor soon': { second_factor_from: now + DAY_MS, second_factor_due_at: now + DAY_MS },
  'of others': {},
};
const USER_TIMES = ['disabled_at', 'email_verified_at', 'second_factor_at'] as const;
const EXPIRIES = { unexpired: now + DAY_MS, expired: now - 1 };
const names = <Name extends string>(all: Record<Name, unknown>): Name[] => Object.keys(all) as Name[];

const data = await openDataLayer();
const { db, env, dataSource } = data;
const uses: LastUses[] = [];
afterAll(async () => {
  for (const one of uses) await one.onApplicationShutdown();
  await data.close();
});

/** Every key of every kind of user, by what it stands for. */
async function insertAll(): Promise<Map<string, { id: string; key: string; service: string }>> {
  const services = names(SERVICES).map((what, index) => ({ what, name: `service-${index}` }));
  for (const { what, name } of services)
    await insertRow(db, 'services', { name, created_at: 1, ...SERVICES[what] });
  const orgs = names(ORGS).map((what) => ({ what, id: anUnknownId() }));
  for (const { what, id } of orgs) await insertRow(db, 'orgs', { id, ...ORGS[what] });
  const keys = new Map<string, { id: string; key: string; service: string }>();
  for (const bits of times(2 ** USER_TIMES.length, (index) => index)) {
    const has = USER_TIMES.filter((_, index) => (bits >> index) % 2 === 1);
    const userId = anUnknownId();
    await insertRow(db, 'users', { id: userId, ...Object.fromEntries(has.map((name) => [name, 1])) });
    const memberships = orgs.filter(({ what }) => what !== 'of others');
    await insertRows(
      db,
      'members',
      memberships.map(({ id }) => ({ org_id: id, user_id: userId })),
    );
    for (const { what, name: service } of services)
      for (const org of [{ what: 'own', id: null }, ...orgs])
        for (const expiry of names(EXPIRIES)) {
          const [id, key] = [anUnknownId(), newApiKey()];
          const owner = { user_id: userId, org_id: org.id, audience: service };
          const row = { id, hash: hashApiKey(key), ...owner, expires_at: EXPIRIES[expiry] };
          await insertRow(db, 'api_keys', row);
          keys.set([has.join(' '), what, org.what, expiry].join(' | '), { id, key, service });
        }
  }
  return keys;
}

const keys = await insertAll();

describe.each(['optional', 'required'] as const)('if verification is %s', (emailVerification) => {
  it('the lists call the API keys active that introspection accepts, and no others', async () => {
    const app = await wired({ env: { ...env, emailVerification }, dataSource }, IntrospectionModule);
    uses.push(app.get(LastUses, { strict: false }));
    const lists = app.get(ApiKeysRepository, { strict: false });
    const introspection = app.get(IntrospectionController, { strict: false });
    const states = new Map((await lists.findPage({}, 1000)).map(({ id, state }) => [id, state]));
    const [listed, accepted]: Record<string, string>[] = [{}, {}];
    for (const [what, { id, key, service }] of keys) {
      const asking = { kind: 'service', name: service, allow: ['introspect'], epoch: 0 } as const;
      const { active } = await introspection.introspectToken(asking, { token: key, orgId: undefined });
      listed![what] = states.get(id)!;
      const dead = what.endsWith('| expired') ? 'expired' : 'suspended';
      accepted![what] = active ? 'active' : dead;
    }
    expect(listed).toEqual(accepted);
    // of an enabled user with a second factor, and of one without
    const active = (5 + 3) * (emailVerification === 'required' ? 1 : 2);
    expect(Object.values(accepted!).filter((state) => state === 'active')).toHaveLength(active);
  });
});
