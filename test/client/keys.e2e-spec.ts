import { afterAll, beforeAll, expect, it } from 'vitest';
import { createClient, memoryStore } from '../../client/src/index.ts';
import { createGuard, type Guard, type KeyAdmission, type Refusal } from '../../client/src/service/index.ts';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { accountsJson } from '../support/accounts-command.js';
import { type ApiKey, insertApiKey } from '../support/api-keys.js';
import { times } from '../support/at-once.js';
import { anInstallation } from '../support/installation.js';
import { type Account, anAccount, anOrgOf, aPassword, join, type Org } from '../support/personas.js';
import { NO_LIMITS, startOwnService } from '../support/service.js';
import { aServiceCaller, type ServiceCaller, setCall } from '../support/services.js';
import { Door } from './support/door.js';

const INTROSPECT = '/api/auth/introspect';
const KEYS = { keys: true } as const;
const SCOPES = ['introspect', 'memberships', 'events', 'keys'] as const;
const REFUSED = { status: 401, problem: { code: 'invalid_token' } };
const NOT_ALLOWED = { status: 403, problem: { code: 'caller_not_allowed' } };

const installation = await anInstallation();
const service = await startOwnService({ installation, env: NO_LIMITS });
const door = await Door.open(service.url);
const [billing, ledger, deaf] = [
  await aServiceCaller(service, ...SCOPES),
  await aServiceCaller(service, ...SCOPES),
  await aServiceCaller(service, 'introspect', 'memberships', 'events'),
];
await setCall(installation.db, billing, ledger);
await setCall(installation.db, billing, deaf);

const guardOf = ({ name, secret }: ServiceCaller): Guard =>
  createGuard({
    issuer: 'accounts',
    audience: name,
    baseUrl: door.url,
    credentials: { name, secret },
    log: { warn: () => undefined },
  });
/** Three processes of one service, and one of another. */
const atBilling = times(3, () => guardOf(billing));
const [guard] = atBilling as [Guard];
const atLedger = guardOf(ledger);
let ada: Account;
let grace: Account;
let org: Org;

beforeAll(async () => {
  ada = await anAccount(service, 'ada');
  grace = await anAccount(service, 'grace');
  org = await anOrgOf(ada);
  await join(org, ada, grace, 'admin');
});
afterAll(async () => {
  await Promise.all([...atBilling, atLedger].map((one) => one.close()));
  await door.close();
  await service.stop();
  await installation.remove();
});

const bearer = (token: string): string => `Bearer ${token}`;
const use = ({ key }: { key: string }, options: object = KEYS, at = guard) =>
  at.authorize(bearer(key), options);
const asked = (): number => door.asked.filter((path) => path === INTROSPECT).length;

async function admit(key: ApiKey, at = guard): Promise<KeyAdmission> {
  const answer = await at.authorize(bearer(key.key), KEYS);
  if (!answer.ok || !answer.key) throw new Error('the key is not admitted');
  return answer;
}

/** At each process of the service. */
async function expectAtAll(key: ApiKey, options: object, expected: object): Promise<void> {
  for (const at of atBilling)
    await waitFor(`the key gives ${JSON.stringify(expected)}`, hangTimeoutMs(), async () => {
      const answer = await use(key, options, at);
      const { ok, status, role } = answer as { ok: boolean; status?: number; role?: string };
      return Object.entries(expected).every(
        ([name, value]) => ({ ok, status, role })[name as 'ok'] === value,
      );
    });
}

it('a user makes a key with the client, the guard admits it, and three guards refuse it once it was found', async () => {
  const client = createClient({ baseUrl: service.url, store: memoryStore() });
  const [email, password] = [`${Date.now()}@example.com`, aPassword()];
  expect(await client.register({ email, password })).toMatchObject({ ok: true });
  const made = await client.createApiKey({ name: 'nightly export', audience: billing.name, role: 'owner' });
  if (!made.ok) throw new Error(made.problem.code);
  const { apiKey, key } = made.data;
  installation.secrets.note(key);
  expect(await client.listApiKeys()).toMatchObject({
    data: { apiKeys: [{ id: apiKey.id, state: 'active' }] },
  });
  for (const at of atBilling)
    expect(await use({ key }, KEYS, at)).toMatchObject({
      user: { email },
      key: { id: apiKey.id, role: 'owner', orgId: null },
    });
  expect(await use({ key }, {})).toMatchObject(NOT_ALLOWED);
  expect(await use({ key }, KEYS, atLedger)).toMatchObject(REFUSED);

  expect(await client.revokeFoundApiKey({ key })).toMatchObject({ ok: true });
  await expectAtAll({ key } as ApiKey, KEYS, { status: 401 });
  const other = await client.createApiKey({ name: 'another', audience: billing.name });
  if (!other.ok) throw new Error(other.problem.code);
  installation.secrets.note(other.data.key);
  expect(await use(other.data)).toMatchObject({ ok: true });
  expect(await client.revokeApiKey({ keyId: other.data.apiKey.id })).toMatchObject({ ok: true });
  await expectAtAll(other.data as never, KEYS, { status: 401 });
});

it('a key of an organization acts there alone, with the lower role of both', async () => {
  const key = await insertApiKey(service, grace, billing, { role: 'owner', orgId: org.id });
  const inOrg = { ...KEYS, orgId: org.id };
  const before = asked();
  expect(await use(key, { orgId: org.id })).toMatchObject(NOT_ALLOWED);
  expect(asked()).toBe(before);
  expect(await use(key, inOrg)).toMatchObject({ role: 'admin', key: { id: key.id, orgId: org.id } });
  expect(await use(key, { ...inOrg, role: 'owner' })).toMatchObject({ status: 403 });
  expect(await use(key, { ...inOrg, maxAge: 1e9 })).toMatchObject({ status: 401 });
  expect(await use(key)).toMatchObject(NOT_ALLOWED);
  const elsewhere = await anOrgOf(grace);
  expect(await use(key, { ...KEYS, orgId: elsewhere.id })).toMatchObject({
    problem: { code: 'not_a_member' },
  });
  expect(asked()).toBe(before + 1);
});

it('a key loses what its user loses: the role, the membership and the account', async () => {
  const mary = await anAccount(service, 'mary');
  await join(org, ada, mary, 'admin');
  const key = await insertApiKey(service, mary, billing, { role: 'owner' });
  const inOrg = { ...KEYS, orgId: org.id };
  await expectAtAll(key, inOrg, { role: 'admin' });
  const path = `/api/orgs/${org.id}/members/${mary.id}`;
  expect((await ada.patch(path, { role: 'member' })).status).toBe(200);
  await expectAtAll(key, inOrg, { role: 'member' });
  expect((await ada.delete(path)).status).toBe(200);
  await expectAtAll(key, inOrg, { status: 403 });
  expect(await use(key)).toMatchObject({ ok: true });
  await accountsJson(installation, ['users', 'disable', mary.id, '--reason', 'left']);
  await expectAtAll(key, KEYS, { status: 401 });
});

it('a key follows the scope of its service: removed, it is refused, and allowed again, it works', async () => {
  const key = await insertApiKey(service, ada, billing);
  await expectAtAll(key, KEYS, { ok: true });
  const allow = (...scopes: string[]) =>
    accountsJson(installation, ['services', 'allow', billing.name, scopes.join()]);
  await allow('introspect', 'memberships', 'events');
  await expectAtAll(key, KEYS, { status: 401 });
  await allow(...SCOPES);
  await expectAtAll(key, KEYS, { ok: true });
});

it('a service hands a token of the key on, which ends with the key', async () => {
  const key = await insertApiKey(service, ada, billing, { role: 'admin' });
  const admission = await admit(key);
  const tokenOf = async (answer: Promise<{ ok: true; token: string } | Refusal>): Promise<string> => {
    const issued = await answer;
    if (!issued.ok) throw new Error(String(issued.cause));
    installation.secrets.noteToken(issued.token);
    return issued.token;
  };
  const token = await tokenOf(guard.tokenFor(ledger.name, admission));
  expect(await guard.tokenFor(deaf.name, admission)).toMatchObject({ status: 503 });
  expect(await atLedger.authorize(bearer(token))).toMatchObject(NOT_ALLOWED);
  const inOrg = { ...KEYS, orgId: org.id };
  expect(await atLedger.authorize(bearer(token), inOrg)).toMatchObject({
    key: { id: key.id },
    role: 'admin',
    via: [billing.name],
  });
  expect((await service.anyone.post('/api/keys/revoke', { key: key.key })).status).toBe(200);
  await waitFor(
    'the token ended',
    hangTimeoutMs(),
    async () => !(await atLedger.authorize(bearer(token), inOrg)).ok,
  );
  await expectAtAll(key, KEYS, { status: 401 });
  expect(await guard.tokenFor(ledger.name, admission)).toMatchObject(REFUSED);
});
