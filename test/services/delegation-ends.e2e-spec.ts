import { beforeAll, describe, expect, it } from 'vitest';
import { type Account, anAccount, aPassword, byCode } from '../support/personas.js';
import {
  aBoundToken,
  aCallToken,
  aServiceCaller,
  type ServiceCaller,
  setCall,
  tokenRequest,
} from '../support/services.js';
import { startSharedCluster } from '../support/service.js';

const { instances, db } = await startSharedCluster();
const service = instances[0]!;

/** A token, and the service that introspects it. */
interface Held {
  token: string;
  at: ServiceCaller | undefined;
}

const WAY = ['billing', 'orders', 'ledger', 'audit', 'archive'] as const;
type Name = (typeof WAY)[number];

interface Family {
  ada: Account;
  login: Account;
  head: Account;
  services: Record<Name, ServiceCaller>;
  tokens: Record<string, Held>;
}

/** A login with two hand-offs, each with a session below its head, and tokens that went over up to five services. */
async function aFamily(): Promise<Family> {
  const callers = await Promise.all(WAY.map(() => aServiceCaller(service, 'introspect')));
  const services = Object.fromEntries(
    WAY.map((name, index) => [name, callers[index]!]),
  ) as Family['services'];
  for (const [index, caller] of callers.slice(0, -1).entries())
    await setCall(db, caller, callers[index + 1]!);
  const [ada, grace] = [await anAccount(service, 'ada'), await anAccount(service, 'grace')];
  const head = await byCode(service, ada);
  const tokens: Record<string, Held> = {
    login: { token: ada.token, at: undefined },
    head: { token: head.token, at: undefined },
    'second hand-off': { token: (await byCode(service, ada)).token, at: undefined },
    'another user': { token: await aBoundToken(services.billing, grace), at: services.billing },
  };
  let token = await aBoundToken(services.billing, head);
  tokens['bound'] = { token, at: services.billing };
  for (const [index, at] of callers.slice(1).entries()) {
    token = await aCallToken(callers[index]!, at, token);
    tokens[`way of ${index + 1}`] = { token, at };
    const own = await aCallToken(callers[index]!, at);
    tokens[`own of ${WAY[index]}`] = { token: own, at };
  }
  return { ada, login: ada, head, services, tokens };
}

const WAYS = ['way of 1', 'way of 2', 'way of 3', 'way of 4'];
const OWN = ['own of billing', 'own of orders', 'own of ledger', 'own of audit'];
const ALL = ['login', 'head', 'second hand-off', 'another user', 'bound', ...WAYS, ...OWN];

/** What Accounts says of each token, which must be the same on every instance. */
async function activeOf({ tokens }: Family): Promise<string[]> {
  const states = await Promise.all(
    Object.entries(tokens).map(async ([name, { token, at }]) => {
      const answers = await Promise.all(
        instances.map(async (instance) => {
          const isOwn = name.startsWith('own');
          const me = isOwn ? 0 : (await instance.anyone.withToken(token).get('/api/me')).status;
          const asked = at && (await at.at(instance).introspect<{ active: boolean }>({ token })).body.active;
          expect(isOwn || asked === undefined || asked === (me === 200), name).toBe(true);
          return asked ?? me === 200;
        }),
      );
      expect(new Set(answers).size, name).toBe(1);
      return [name, answers[0]] as const;
    }),
  );
  return states.filter(([, isActive]) => isActive).map(([name]) => name);
}

type End = (family: Family) => Promise<unknown>;

const disable =
  (name: Name): End =>
  ({ services }) =>
    services[name].client.disable();
const revokeCall =
  (caller: Name, callee: Name): End =>
  ({ services }) =>
    setCall(db, services[caller], services[callee], false);

const OF_ADA = ['login', 'head', 'second hand-off', 'bound', ...WAYS];

const ENDS: [link: string, end: End, ended: string[]][] = [
  [
    'the session',
    ({ tokens }) => service.anyone.withToken(tokens['bound']!.token).post('/api/auth/logout'),
    ['head', 'bound', ...WAYS],
  ],
  ['the login', ({ login }) => login.post('/api/auth/logout'), OF_ADA],
  ['the head of the branch', ({ head }) => head.post('/api/auth/logout'), ['head', 'bound', ...WAYS]],
  [
    'all sessions of the user',
    ({ ada }) => ada.put('/api/me/password', { currentPassword: ada.password, newPassword: aPassword() }),
    OF_ADA.filter((name) => name !== 'login'),
  ],
  [
    'the user',
    ({ ada }) =>
      db.query('UPDATE users SET disabled_at = 1, auth_epoch = auth_epoch + 1 WHERE id = ?', [ada.id]),
    OF_ADA,
  ],
  ['the first service', disable('billing'), ['bound', 'another user', ...WAYS, 'own of billing']],
  ['a service between', disable('orders'), [...WAYS, 'own of billing', 'own of orders']],
  ['the last service', disable('archive'), ['way of 4', 'own of audit']],
  [
    'all sessions of a service',
    ({ services }) => services.ledger.client.endSessions(),
    ['way of 2', 'way of 3', 'way of 4', 'own of orders', 'own of ledger'],
  ],
  ['the first call', revokeCall('billing', 'orders'), [...WAYS, 'own of billing']],
  ['a call between', revokeCall('ledger', 'audit'), ['way of 3', 'way of 4', 'own of ledger']],
  ['the last call', revokeCall('audit', 'archive'), ['way of 4', 'own of audit']],
];

describe('the end of a link ends exactly the tokens that name it, on every instance', () => {
  it.each(ENDS)('%s', async (_link, end, ended) => {
    const family = await aFamily();
    expect(await activeOf(family)).toEqual(expect.arrayContaining(ALL));
    await end(family);
    const left = ALL.filter((name) => !ended.includes(name));
    expect((await activeOf(family)).toSorted()).toEqual(left.toSorted());
  });
});

describe('an end is final', () => {
  let family: Family;
  beforeAll(async () => {
    family = await aFamily();
  });

  it('for a call that is allowed again, whose tokens cannot be exchanged either', async () => {
    const { orders, ledger, audit } = family.services;
    const before = family.tokens['way of 2']!.token;
    await setCall(db, orders, ledger, false);
    await setCall(db, orders, ledger);
    const refused = await ledger.requestToken(tokenRequest(audit.name, before));
    expect(refused.body).toMatchObject({ code: 'invalid_subject_token' });
    const left = ['way of 1', 'own of billing', 'own of ledger', 'own of audit'];
    const active = await activeOf(family);
    expect(active).toEqual(expect.arrayContaining(left));
    for (const dead of ['way of 2', 'way of 3', 'way of 4', 'own of orders'])
      expect(active).not.toContain(dead);
  });

  it('for a service that is enabled again', async () => {
    const { billing } = family.services;
    await billing.client.disable();
    await billing.client.enable();
    const active = await activeOf(family);
    for (const dead of ['bound', 'way of 1', 'own of billing']) expect(active).not.toContain(dead);
  });
});

it('no exchange during an end leaves a token that lives on', async () => {
  const { services } = await aFamily();
  const { billing, orders, ledger } = services;
  for (let round = 0; round < 20; round += 1) {
    const user = await anAccount(service);
    const first = await aCallToken(billing, orders, await aBoundToken(billing, user));
    const exchanging = instances.map((instance) =>
      orders.at(instance).requestToken(tokenRequest(ledger.name, first)),
    );
    const end =
      round % 2 === 0
        ? user.at(instances.at(-1)!).post('/api/auth/logout')
        : setCall(db, billing, orders, false);
    const answers = await Promise.all(exchanging);
    await end;
    if (round % 2 === 1) await setCall(db, billing, orders);
    for (const { status, body } of answers) {
      expect([200, 400]).toContain(status);
      if (status !== 200) continue;
      for (const instance of instances)
        expect((await ledger.at(instance).introspect({ token: body.access_token })).body).toEqual({
          active: false,
        });
    }
  }
});
