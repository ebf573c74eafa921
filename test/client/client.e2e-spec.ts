import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { ROUTES } from '../../client/src/api.gen.ts';
import { createMainClient } from '../../client/src/electron/index.ts';
import { createPageClient } from '../../client/src/electron/page.ts';
import { PAGE_METHODS } from '../../client/src/electron/page-methods.ts';
import { fileStore } from '../../client/src/file-store.ts';
import {
  type Client,
  createClient,
  memoryStore,
  type OperationId,
  type Result,
} from '../../client/src/index.ts';
import { createAdminClient } from '../../client/src/admin.ts';
import { FakeElectron, FakePage } from '../../client/test/support/fake-electron.ts';
import { createServiceClient } from '../../client/src/service/index.ts';
import { makeOperator, showSecondFactor } from '../support/operators.js';
import { anAccount, anEmail, aPassword, anUnknownId } from '../support/personas.js';
import { aServiceCaller } from '../support/services.js';
import { startService } from '../support/service.js';

/** What the client says itself; anything else has to be an answer of the service. */
const OF_THE_CLIENT = /^(?:unreachable|timed_out|not_json|invalid_answer|unknown_code|store_failed)$/;

interface Example {
  value: Record<string, unknown>;
}
interface Documented {
  operationId: OperationId;
  requestBody?: {
    content: Record<string, { example?: object; examples?: Record<string, Example>; schema: object }>;
  };
}

const service = await startService();
afterAll(() => service.stop());

async function aClient(): Promise<{ client: Client; email: string; password: string; userId: string }> {
  const client = createClient({ baseUrl: service.url, store: memoryStore() });
  const [email, password] = [anEmail(), aPassword()];
  const registered = data(await client.register({ email, password, deviceName: undefined }));
  return { client, email, password, userId: registered.user.id };
}

function data<Body, Problem>(result: Result<Body, Problem>): Body {
  if (!result.ok) throw new Error(JSON.stringify(result.problem));
  return result.data;
}

/** The first example of the body, and ids of nothing. The client lacks the operations of browsers. */
function inputs(): { id: OperationId; input: Record<string, unknown> }[] {
  const document = JSON.parse(readFileSync('docs/openapi.json', 'utf8')) as {
    paths: Record<string, Record<string, Documented>>;
  };
  const documented = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  const ofPrograms = documented.filter(({ operationId }) => operationId in ROUTES);
  return ofPrograms.map(({ operationId: id, requestBody }) => {
    const ids = [...ROUTES[id].path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name, anUnknownId()] as const);
    const [content] = Object.values(requestBody?.content ?? {});
    const body = content?.example ?? Object.values(content?.examples ?? {})[0]?.value ?? {};
    const input = ROUTES[id].wrapped ? { body } : body;
    return { id, input: { ...input, ...Object.fromEntries(ids) } };
  });
}

it('understands what Accounts answers to every operation', async () => {
  const { client } = await aClient();
  const { name, secret } = await aServiceCaller(service, 'introspect', 'memberships');
  const store = memoryStore();
  const admin = createAdminClient({ baseUrl: service.url, store });
  await createClient({ baseUrl: service.url, store }).register({ email: anEmail(), password: aPassword() });
  const all = {
    ...createServiceClient({ baseUrl: service.url, credentials: { name, secret } }),
    ...admin,
    ...client,
  };
  const understood = new Map<string, string>();
  for (const { id, input } of inputs()) {
    const call = all[id] as (input: object, options: object) => Promise<Result<unknown, { code: string }>>;
    const result = await call(input, { retries: 0 });
    understood.set(id, result.ok ? 'ok' : result.problem.code);
    if (!(await client.isLoggedIn())) await client.register({ email: anEmail(), password: aPassword() });
  }

  expect([...understood].filter(([, code]) => OF_THE_CLIENT.test(code))).toEqual([]);
  expect([...understood.values()].filter((code) => code === 'ok').length).toBeGreaterThan(10);
});

it('gives what Accounts answers to the pages of Electron, but no token', async () => {
  const app = new FakeElectron('', { canEncrypt: false });
  const tokens = new Set<string>();
  const noting: typeof fetch = async (...given) => {
    const response = await fetch(...given);
    const noted = (await response.clone().text()).matchAll(/"(?:token|refreshToken)":"([^"]+)"/g);
    for (const [, token] of noted) tokens.add(token!);
    return response;
  };
  const { electron } = app;
  const options = { electron, baseUrl: service.url, origins: ['app://accounts'], preload: false };
  const main = await createMainClient({ ...options, fetch: noting });
  vi.stubGlobal('accountsClient', new FakePage(app, 'app://accounts').accountsClient);
  const page = createPageClient();
  vi.unstubAllGlobals();

  const understood: string[] = [];
  for (const { id, input } of inputs().filter((one) => PAGE_METHODS.includes(one.id))) {
    if (!(await page.isLoggedIn())) data(await page.register({ email: anEmail(), password: aPassword() }));
    await main.refresh();
    const call = page[id as 'getMe'] as (input: object) => Promise<Result<unknown, unknown>>;
    const result = await call(id === 'logOut' ? {} : input);
    if (result.ok) understood.push(id);
  }

  expect(understood).toEqual(expect.arrayContaining(['getMe', 'issueCode', 'exportData', 'logOut']));
  const sent = JSON.stringify(app.messages);
  expect([...tokens].filter((token) => sent.includes(token))).toEqual([]);
  expect(tokens.size).toBeGreaterThan(inputs().length / 2);
});

it('goes through the life of an organization', async () => {
  const [ada, grace] = await Promise.all([aClient(), aClient()]);
  const { client } = ada;
  const orgId = data(await client.createOrg({ name: 'Engines' })).org.id;
  const added = await client.addMember({ orgId, email: grace.email, role: 'member' });
  expect(added).toMatchObject({ ok: true, status: 201, replayed: false });

  const idempotencyKey = crypto.randomUUID();
  const change = { orgId, userId: grace.userId, role: 'admin' } as const;
  const ifMatch = added.ok ? added.etag : undefined;
  const changed = await client.changeMemberRole(change, { idempotencyKey, ifMatch });
  expect(changed).toMatchObject({ ok: true, etag: expect.stringMatching(/^"\d+"$/) as unknown });
  const again = await client.changeMemberRole(change, { idempotencyKey, ifMatch });
  expect(again).toMatchObject({ replayed: true });
  const late = { problem: { code: 'precondition_failed', status: 412 } };
  expect(await client.changeMemberRole(change, { ifMatch })).toMatchObject(late);
  const tried = await client.removeMember({ orgId, userId: grace.userId, dryRun: true });
  expect(tried).toMatchObject({ ok: true, dryRun: true });
  const left = await client.leaveOrg({ orgId, remedy: true });
  expect(!left.ok && left.problem.code === 'last_owner' && left.problem.remedy?.candidates).toMatchObject([
    { userId: grace.userId },
  ]);
  expect(data(await grace.client.getMe({ include: ['roles'] })).orgs).toMatchObject([{ role: 'admin' }]);
  data(await client.transferOrg({ orgId, userId: grace.userId, leave: true }));
  expect(await client.getOrg({ orgId })).toMatchObject({ problem: { code: 'not_a_member' } });
});

it('reads the configuration without a login, and creates a user as an operator', async () => {
  const nobody = createClient({ baseUrl: service.url, store: memoryStore() });
  expect(data(await nobody.getAuthConfig())).toMatchObject({ registration: 'open', passwordMinLength: 8 });

  const operator = await anAccount(service);
  await makeOperator(service, operator);
  const admin = createAdminClient({ baseUrl: service.url, store: memoryStore() });
  const { user } = data(await admin.login({ email: operator.email, password: operator.password }));
  await showSecondFactor(service, user);
  const created = { email: anEmail('grace'), name: 'Grace Hopper', verified: true, reason: 'a test' };
  const { email: emailOfGrace, name } = created;
  expect(data(await admin.adminCreateUser(created)).user).toMatchObject({ email: emailOfGrace, name });
  expect(await admin.adminCreateUser(created)).toMatchObject({ problem: { code: 'email_taken' } });
});

it('changes the profile, unless it has changed since, and shows names where they are asked for', async () => {
  const { client, userId, email } = await aClient();
  const seen = await client.getProfile();
  const ifMatch = seen.ok ? seen.etag : undefined;
  const changed = await client.updateProfile({ name: 'Ada Lovelace', locale: 'en-gb' }, { ifMatch });
  const profile = { name: 'Ada Lovelace', avatarUrl: null, locale: 'en-GB' };
  expect(changed).toMatchObject({ ok: true, data: { profile }, etag: expect.any(String) as unknown });
  const late = { problem: { code: 'precondition_failed' } };
  expect(await client.updateProfile({ name: null }, { ifMatch })).toMatchObject(late);
  expect(await client.updateProfile({ name: null, dryRun: true })).toMatchObject({ dryRun: true });
  expect(data(await client.getMe({ include: ['profile'] })).user).toEqual({ id: userId, email, profile });
  const { org } = data(await client.createOrg({ name: 'Engines' }));
  const { name, avatarUrl } = profile;
  const member = { userId, email, role: 'owner', profile: { name, avatarUrl } };
  expect(data(await client.listMembers({ orgId: org.id, include: ['profile'] })).members).toEqual([member]);
});

it('passes a login on, and logs out', async () => {
  const { client, userId, email, password } = await aClient();
  const { name, secret } = await aServiceCaller(service, 'introspect');
  const ofService = createServiceClient({ baseUrl: service.url, credentials: { name, secret } });
  const { code } = data(await client.issueCode({ audience: name }));
  const { token } = data(await ofService.exchangeCode({ code }));
  expect(data(await ofService.introspectToken({ token }))).toMatchObject({ active: true, sub: userId });
  const unknown = { problem: { code: 'validation_failed' } };
  expect(await client.issueCode({ audience: 'nobody' })).toMatchObject(unknown);

  const { refreshToken } = data(await client.refresh());
  service.installation.secrets.note(refreshToken);
  // Windows stores no more than 1,280 UTF-16 units.
  expect(refreshToken.length).toBeLessThanOrEqual(1280);
  data(await client.logOut());
  expect(data(await ofService.introspectToken({ token }))).toEqual({ active: false });
  expect(await client.getMe()).toMatchObject({ problem: { code: 'not_logged_in' } });
  const wrong = { problem: { code: 'invalid_credentials', status: 401 } };
  expect(await client.login({ email, password: 'wrong' })).toMatchObject(wrong);
  data(await client.login({ email, password }));
  data(await client.deleteAccount({ password }));
  expect(await client.isLoggedIn()).toBe(false);
});

describe('a login that processes share', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'accounts-client-'));
  const file = join(directory, 'login');
  const first = createClient({ baseUrl: service.url, store: fileStore(file) });
  await first.register({ email: anEmail(), password: aPassword() });
  afterAll(() => rm(directory, { recursive: true }));

  function aProcess(...how: string[]): ChildProcess {
    const program = join(import.meta.dirname, 'support/refreshing.ts');
    return spawn(process.execPath, [program, service.url, file, ...how], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  }

  const output = (process: ChildProcess): Promise<string> => text(process.stdout!);

  it('stays logged in while several processes refresh at once', async () => {
    const before = await generation();
    const said = await Promise.all(Array.from({ length: 4 }, () => output(aProcess())));
    expect(said).toEqual(Array.from({ length: 4 }, () => 'logged in\n'));
    expect((await generation()) - before).toBe(4);
  });

  it('stays logged in after a process was killed before it stored the new token', async () => {
    const killed = aProcess('hang');
    await once(killed.stdout!, 'data');
    const next = output(aProcess());
    killed.kill('SIGKILL');
    expect(await next).toBe('logged in\n');
    expect(await output(aProcess())).toBe('logged in\n');
  });

  async function generation(): Promise<number> {
    const stored = await fileStore(file).load();
    return Number(stored!.split('.')[1]);
  }
});
