import { randomUUID } from 'node:crypto';
import { afterAll, expect, it } from 'vitest';
import { FakeAccounts } from '../../client/src/conformance/fake-accounts.ts';
import { readScripts } from '../../client/src/conformance/report.ts';
import type { Change } from '../../client/src/conformance/script.ts';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { accountsJson, BY_ROOT } from '../support/accounts-command.js';
import { contract } from '../support/contract.js';
import { type FeedEvent, type FeedPage, readFeed, readFeedAfter } from '../support/feed.js';
import { anInstallation } from '../support/installation.js';
import { insertApiKey } from '../support/api-keys.js';
import { type Account, anAccount, anOrgOf, join, logIn } from '../support/personas.js';
import { enrol, protect } from '../support/second-factor.js';
import { startOwnService } from '../support/service.js';
import { aBoundToken, aCallToken, aServiceCaller, basic, setCall } from '../support/services.js';

const NAMES = ['orgId', 'orgRevision', 'userId', 'userRevision', 'sessionId'] as const;
const withoutLimits = { RATE_LIMIT_REGISTER: 'off', RATE_LIMIT_LOGIN: 'off', RATE_LIMIT_LOOKUP: 'off' };

const installation = await anInstallation();
const service = await startOwnService({ installation, env: withoutLimits });
const fake = await FakeAccounts.open({
  sessions: { tablet: { user: 'ada' }, shop: { user: 'ada', via: ['shop'] } },
  keys: {
    robot: { user: 'ada', role: 'owner' },
    ofOrg: { user: 'ada', org: 'engines' },
    handedOn: { user: 'ada', via: ['shop'] },
  },
  members: { engines: { ada: 'admin' } },
});
afterAll(async () => {
  fake.close();
  await service.stop();
  await installation.remove();
});

async function ask(method: string, path: string, form?: Record<string, string>, secret = fake.secret) {
  const headers = { authorization: basic('billing', secret) };
  const body = form && new URLSearchParams(form);
  const response = await fetch(fake.url + path, {
    method,
    headers,
    redirect: 'manual',
    ...(body && { body }),
  });
  const text = await response.text();
  const answer = {
    status: response.status,
    headers: response.headers,
    text,
    body: JSON.parse(text) as object,
  };
  contract.check(method, path, answer);
  return answer;
}

const keysOf = (value: object): string[] => Object.keys(value).toSorted();
const eventsOfFake = async (): Promise<FeedEvent[]> =>
  ((await ask('GET', '/api/events?after=start&limit=1000')).body as FeedPage).events;

/** Which columns are null, and the keys of `data`. */
const formOf = (event: FeedEvent): string =>
  JSON.stringify([event.type, NAMES.filter((name) => event[name] === null), keysOf(event.data)]);

/** What the fake does, and the same done to Accounts. */
const CHANGES: Change[] = [
  { change: 'key.created', key: 'bobs', user: 'bob' },
  { change: 'key.revoked', key: 'bobs' },
  { change: 'service.allowed', keys: false },
  { change: 'member.added', org: 'engines', user: 'bob', role: 'member' },
  { change: 'member.role_changed', org: 'engines', user: 'bob', role: 'admin' },
  { change: 'account.profile_changed', user: 'bob' },
  { change: 'org.second_factor_required', org: 'engines', in: -1 },
  { change: 'member.resumed', org: 'engines', user: 'bob' },
  { change: 'member.suspended', org: 'engines', user: 'bob' },
  { change: 'member.role_changed', org: 'engines', user: 'bob', role: 'member', suspended: true },
  { change: 'member.removed', org: 'engines', user: 'bob' },
  { change: 'member.added', org: 'engines', user: 'bob', role: 'member', suspended: true },
  { change: 'org.second_factor_required', org: 'engines' },
  { change: 'org.deleted', org: 'engines' },
  { change: 'org.restored', org: 'engines' },
  { change: 'session.ended', session: 'tablet' },
  { change: 'session.ended', user: 'ada', except: 'ada' },
  { change: 'session.ended', user: 'bob' },
  { change: 'service.call_revoked', service: 'shop', to: 'billing' },
  { change: 'service.tokens_ended', service: 'shop' },
  { change: 'service.disabled' },
  { change: 'service.enabled' },
  { change: 'account.disabled', user: 'bob' },
  { change: 'account.enabled', user: 'bob' },
  { change: 'account.deleted', user: 'bob' },
];

it('answers in the form of the API document', async () => {
  const tokens = { ada: fake.tokens.of({ session: 'ada' }), own: fake.tokens.of({ service: 'shop' }) };
  const [ada, org] = [fake.world.expand('$ada'), fake.world.expand('$engines')];
  const list = `/api/memberships?userId=${ada}&orgId=${org}`;
  const statuses = [
    await ask('GET', '/.well-known/jwks.json'),
    await ask('GET', '/api/auth/config'),
    await ask('GET', '/api/events'),
    await ask('GET', '/api/events', undefined, 'acs_wrong'),
    await ask('GET', `/api/events?after=${'f'.repeat(8)}-0000-7000-8000-${'0'.repeat(12)}`),
    await ask('GET', list),
    await ask('POST', '/api/auth/introspect', { token: tokens.ada, orgId: org }),
    await ask('POST', '/api/auth/introspect', { token: tokens.own }),
    await ask('POST', '/api/auth/introspect', { token: fake.tokens.of({ key: 'robot' }), orgId: org }),
    await ask('POST', '/api/auth/introspect', { token: fake.tokens.of({ key: 'handedOn' }) }),
    await ask('POST', '/api/auth/introspect', { token: 'x' }),
  ].map(({ status }) => status);
  expect(statuses).toEqual([200, 200, 200, 401, 410, 200, 200, 200, 200, 200, 200]);
  for (const fault of [500, 503]) {
    fake.fail('memberships', fault);
    expect((await ask('GET', list)).status).toBe(fault);
  }
  fake.deliveries.heal('memberships');
  // The events of all changes that scripts make, but those of types that exist nowhere.
  for (const { given = {}, steps } of readScripts()) {
    const played = await FakeAccounts.open(given);
    for (const step of steps) {
      if ('change' in step && !step.change.endsWith('.repainted') && !step.withoutEpoch) played.change(step);
    }
    const path = '/api/events?after=start&limit=100';
    // A service that was disabled reads nothing.
    const { body } = await played.feed.page(new URLSearchParams(path.split('?')[1]), () => true);
    contract.check('GET', path, {
      status: 200,
      headers: new Headers({ 'content-type': 'application/json', 'x-request-id': randomUUID() }),
      body,
      text: JSON.stringify(body),
    });
    played.close();
  }
});

it('introspects and lists memberships as Accounts does', async () => {
  const [billing, shop] = [
    await aServiceCaller(service, 'introspect', 'memberships', 'keys'),
    await aServiceCaller(service, 'keys'),
  ];
  const ada = await anAccount(service);
  const org = await anOrgOf(ada);
  await setCall(service.db, shop, billing);
  const tokens = {
    direct: await aBoundToken(billing, ada),
    shop: await aCallToken(shop, billing, await aBoundToken(shop, ada)),
    own: await aCallToken(shop, billing),
    robot: (await insertApiKey(service, ada, billing, { role: 'owner' })).key,
    handedOn: await aCallToken(shop, billing, (await insertApiKey(service, ada, shop)).key),
  };
  const ofFake = {
    direct: fake.tokens.of({ session: 'ada' }),
    shop: fake.tokens.of({ session: 'shop' }),
    own: fake.tokens.of({ service: 'shop' }),
    robot: fake.tokens.of({ key: 'robot' }),
    handedOn: fake.tokens.of({ key: 'handedOn' }),
  };
  for (const kind of ['direct', 'shop', 'own', 'robot', 'handedOn'] as const) {
    const real = await billing.introspect<object>({ token: tokens[kind] });
    const played = await ask('POST', '/api/auth/introspect', { token: ofFake[kind] });
    expect({ kind, keys: keysOf(played.body) }).toEqual({ kind, keys: keysOf(real.body) });
    if (kind === 'robot') continue;
    const claims = (token: string): object =>
      JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as object;
    expect({ kind, keys: keysOf(claims(ofFake[kind])) }).toEqual({
      kind,
      keys: keysOf(claims(tokens[kind])),
    });
  }
  type Listed = { memberships: object[] };
  const real = await billing.get<Listed>(`/api/memberships?userId=${ada.id}&orgId=${org.id}`);
  const [user, engines] = [fake.world.expand('$ada'), fake.world.expand('$engines')];
  const played = await ask('GET', `/api/memberships?userId=${user}&orgId=${engines}`);
  expect((played.body as Listed).memberships.map(keysOf)).toEqual(real.body.memberships.map(keysOf));
});

it('writes the events that Accounts writes', async () => {
  const [billing, shop] = [await aServiceCaller(service, 'events', 'keys'), await aServiceCaller(service)];
  const [owner, bob] = [await anAccount(service), await anAccount(service)];
  const { next } = await readFeed(billing);
  const cli = (...parameters: string[]) => accountsJson(installation, [...parameters, ...BY_ROOT]);
  const done = async (answer: Promise<{ status: number; text: string }>): Promise<void> => {
    const { status, text } = await answer;
    expect(status, text).toBeLessThan(300);
  };
  const org = await anOrgOf(owner);
  const [path, member] = [`/api/orgs/${org.id}`, `/api/orgs/${org.id}/members/${bob.id}`];
  const another = async ({ email, password }: Account): Promise<{ sid: string }> => {
    const { token } = (await logIn(service, { email, password })).body;
    return JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as { sid: string };
  };
  const { sid } = await another(bob);
  await done(bob.delete(`/api/me/sessions/${sid}`));
  const changed = { currentPassword: bob.password, newPassword: 'a new horse battery' };
  await done(bob.put('/api/me/password', changed));
  await done(bob.patch('/api/me/profile', { name: 'Bob' }));
  const asked = { name: 'export', audience: billing.name };
  const { body: made } = await bob.post<{ apiKey: { id: string }; key: string }>('/api/me/keys', asked);
  installation.secrets.note(made.key);
  await done(bob.delete(`/api/me/keys/${made.apiKey.id}`));
  await cli('services', 'allow', billing.name, 'events');
  await join(org, owner, bob, 'member');
  await done(owner.patch(member, { role: 'admin' }));
  await protect(service, owner);
  await done(owner.patch(path, { secondFactorRequiredFrom: '2020-01-01T00:00:00.000Z' }));
  await enrol(Object.assign(bob, { password: changed.newPassword }));
  await cli('users', 'remove-second-factor', bob.email);
  await done(owner.patch(member, { role: 'member' }));
  await done(owner.delete(member));
  await join(org, owner, bob, 'member');
  await done(owner.patch(path, { secondFactorRequiredFrom: null }));
  await done(owner.delete(path));
  await done(owner.post(`${path}/restore`));
  await cli('users', 'end-sessions', bob.email);
  await cli('services', 'call', shop.name, '--to', billing.name);
  await cli('services', 'revoke-call', shop.name, '--to', billing.name);
  await cli('services', 'disable', shop.name);
  await cli('services', 'disable', billing.name);
  await cli('services', 'enable', billing.name);
  await cli('users', 'disable', bob.email);
  await cli('users', 'enable', bob.email);
  await cli('users', 'delete', bob.email);
  for (const change of CHANGES) fake.change(change);
  const played = new Set((await eventsOfFake()).map(formOf));
  const isMissing = (forms: string[]): string[] => [...played].filter((form) => !forms.includes(form));
  let forms: string[] = [];
  await waitFor('Accounts has written all events', hangTimeoutMs(), async () => {
    forms = (await readFeedAfter(billing, next)).map(formOf);
    return forms.some((form) => form.includes('account.deleted'));
  });
  const types = new Set([...played].map((form) => form.split('"')[1]!));
  expect(isMissing(forms), forms.filter((form) => types.has(form.split('"')[1]!)).join('\n')).toEqual([]);
});
