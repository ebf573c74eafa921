import { afterEach, beforeEach, expect, it } from 'vitest';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { type Client, createClient, memoryStore, type TokenStore } from '../src/index.ts';
import {
  aSignIn,
  failedWith,
  hangUp,
  json,
  OddServer,
  page,
  problem,
  silence,
} from './support/odd-server.ts';

const CREDENTIALS = { email: 'ada@example.com', password: 'p' };
const OR_STALE = { orStale: true, retries: 0 };
const ROLES: { include: ['roles'] } = { include: ['roles'] };
const meOf = (name: string, headers = {}) => json(200, { user: { name }, orgs: [] }, headers);

let server: OddServer;
let store: Required<Omit<TokenStore, 'lock'>> & TokenStore;
let client: Client;

beforeEach(async () => {
  server = await OddServer.start();
  store = memoryStore('first.0') as typeof store;
  client = createClient({ baseUrl: server.url, store });
});
afterEach(() => server.stop());

/** Stores an answer of `getMe` for the session `first`. */
async function readMe(): Promise<void> {
  const tokens = { ...aSignIn(), refreshToken: 'first.1' };
  server.answer(json(200, tokens), meOf('Ada', { 'X-Request-Id': 'request-1' }));
  expect(await client.getMe(ROLES)).toMatchObject({ ok: true });
}

const restarted = (): Client => createClient({ baseUrl: server.url, store });

it.each([
  ['is not reached', hangUp, { code: 'unreachable', status: null }],
  ['answers nothing', silence, { code: 'timed_out', status: null }],
  ['does not work', problem(503, 'unavailable'), { code: 'unavailable', status: 503 }],
  ['has a failure of next year', problem(500, 'new_code'), { code: 'unknown_code', status: 500 }],
  ['has a proxy that answers', page(403, '<html>Blocked'), { code: 'not_json', status: 403 }],
  ['is behind a portal', page(200, '<html>Log in'), { code: 'not_json', status: 200 }],
  ['answers other JSON', json(200, { welcome: true }), { code: 'invalid_answer', status: 200 }],
] as const)('returns the last user if Accounts %s', async (_, answer, expected) => {
  const before = Date.now();
  await readMe();
  const fresh = await client.getMe(ROLES, OR_STALE);
  expect(fresh).toMatchObject({ ok: true });
  expect(fresh).not.toHaveProperty('stale');

  for (const each of [client, restarted()]) {
    server.answer(answer);
    const options = { ...OR_STALE, ...(answer === silence && { timeoutMs: 200 }) };
    const result = await each.getMe(ROLES, options);
    expect(result).toMatchObject({
      ok: true,
      status: 200,
      requestId: 'request-1',
      data: { user: { name: 'Ada' } },
      stale: { problem: expected },
    });
    const { at } = result.stale!;
    expect(new Date(at).toISOString()).toBe(at);
    expect(Date.parse(at)).toBeGreaterThanOrEqual(before);
    expect(await each.getMe(ROLES, { ...options, orStale: false })).toMatchObject({ problem: expected });
  }
});

it.each([
  ['refuses the user', problem(403, 'insufficient_scope'), 'insufficient_scope'],
  ['asks to wait', problem(429, 'rate_limited'), 'unknown_code'],
] as const)('returns the problem if Accounts %s', async (_, answer, code) => {
  await readMe();
  server.answer(answer);
  expect(await client.getMe(ROLES, OR_STALE)).toMatchObject(failedWith(code));
});

it('returns the problem without an answer that had all of include', async () => {
  server.answer(hangUp);
  expect(await client.getMe(ROLES, OR_STALE)).toMatchObject(failedWith('unreachable'));
  const tokens = { ...aSignIn(), refreshToken: 'first.1' };
  server.answer(json(200, tokens), meOf('without roles'), hangUp);
  await client.getMe({ include: ['account'] });
  expect(await client.getMe({}, OR_STALE)).toMatchObject(failedWith('unreachable'));
});

it('returns the last of the answers that had all of include', async () => {
  await readMe();
  const [both, profile] = [{ include: ['account', 'roles'] }, { include: ['profile', 'roles'] }] as const;
  server.answer(meOf('both'), meOf('profile'), meOf('roles'), hangUp);
  await client.getMe({ include: [...both.include] });
  await client.getMe({ include: [...profile.include] });
  const name = async (include: ('account' | 'profile' | 'roles')[]): Promise<unknown> => {
    const result = await client.getMe({ include }, OR_STALE);
    return result.ok ? (result.data.user as { name?: string }).name : result.problem.code;
  };
  await client.getMe(ROLES);
  expect(await name(['roles', 'account'])).toBe('both');
  expect(await name(['profile'])).toBe('profile');
  expect(await name([])).toBe('roles');
  expect(await name(['profile', 'account'])).toBe('unreachable');
  server.answer(meOf('all'), hangUp);
  await client.getMe({ include: ['account', 'profile', 'roles'] });
  expect(await name(['roles'])).toBe('all');
  expect((await store.me.load())!).not.toContain('both');
});

it('holds no token', async () => {
  await readMe();
  expect(await store.me.load()).not.toMatch(/first\.\d|h\.\w+\.s/);
});

it.each<[string, () => Promise<unknown>]>([
  ['a logout', () => client.logOut()],
  ['the deletion of the account', () => client.deleteAccount({ password: 'p' })],
  ['another login', () => client.login(CREDENTIALS)],
])('is removed by %s', async (_, end) => {
  await readMe();
  expect(await store.me.load()).toBeDefined();
  server.answer(json(200, { ...aSignIn(), ok: true }));
  expect(await end()).toMatchObject({ ok: true });
  expect(await store.me.load()).toBeUndefined();
});

it('is removed by the end of the session', async () => {
  await readMe();
  server.answer(problem(401, 'invalid_refresh_token'));
  expect(await client.refresh()).toMatchObject(failedWith('invalid_refresh_token'));
  expect(await store.me.load()).toBeUndefined();
  expect(await client.getMe(ROLES, OR_STALE)).toMatchObject(failedWith('not_logged_in'));
});

it('never belongs to another session, however late its answer comes', async () => {
  await readMe();
  const late: (() => void)[] = [];
  server.answer((response, asked) => late.push(() => meOf('late')(response, asked)));
  const reading = client.getMe(ROLES);
  await waitFor('the request has arrived', hangTimeoutMs(), () => late.length === 1);
  server.answer(json(200, { ...aSignIn(), refreshToken: 'second.1' }));
  await client.login(CREDENTIALS);
  late[0]!();
  expect(await reading).toMatchObject({ ok: true, data: { user: { name: 'late' } } });
  server.answer(hangUp);
  expect(await client.getMe(ROLES, OR_STALE)).toMatchObject(failedWith('unreachable'));
});

it('is not stored by an answer that comes after a logout', async () => {
  await readMe();
  const late: (() => void)[] = [];
  server.answer((response, asked) => {
    if (asked.path.endsWith('/logout')) return json(200, { ok: true })(response, asked);
    late.push(() => meOf('late')(response, asked));
  });
  const reading = client.getMe(ROLES);
  await waitFor('the request has arrived', hangTimeoutMs(), () => late.length === 1);
  await client.logOut();
  late[0]!();
  expect(await reading).toMatchObject({ ok: true });
  expect(await store.me.load()).toBeUndefined();
});

it('does not take the login of another process for its own', async () => {
  await readMe();
  await store.save('second.0');
  server.answer(meOf('of the first session'), hangUp);
  expect(await client.getMe(ROLES)).toMatchObject({ ok: true });
  expect(await client.getMe(ROLES, OR_STALE)).toMatchObject(failedWith('unreachable'));
});

it.each([
  ['is no JSON', '{"version":1'],
  ['is no object', 'null'],
  ['has no answers', '{"version":1,"sessionId":"first"}'],
])('ignores and replaces a text that %s', async (_, text) => {
  await store.me.save(text);
  server.answer(hangUp);
  expect(await client.getMe(ROLES, OR_STALE)).toMatchObject(failedWith('unreachable'));
  await readMe();
  server.answer(hangUp);
  expect(await client.getMe(ROLES, OR_STALE)).toMatchObject({ ok: true });
});

it.each([
  ['version', (text: string) => text.replace('"version":1', '"version":2')],
  ['session', (text: string) => text.replace('"first"', '"second"')],
])('ignores the text of another %s', async (_, changed) => {
  await readMe();
  const text = (await store.me.load())!;
  expect(changed(text)).not.toBe(text);
  await store.me.save(changed(text));
  server.answer(hangUp);
  expect(await client.getMe(ROLES, OR_STALE)).toMatchObject(failedWith('unreachable'));
});

it('changes no other result if the store has no place for it, or fails', async () => {
  const fail = (): never => {
    throw new Error('the disk is full');
  };
  for (const me of [undefined, { load: fail, save: fail }]) {
    const session = { load: () => 'first.0', save: () => undefined };
    client = createClient({ baseUrl: server.url, store: { ...session, ...(me && { me }) } });
    await readMe();
    server.answer(hangUp);
    expect(await client.getMe(ROLES, OR_STALE)).toMatchObject(failedWith('unreachable'));
  }
});

it('is not waited for while another process holds the lock', async () => {
  await readMe();
  let release: () => void = () => undefined;
  const held = new Promise<void>((done) => (release = done));
  store.lock = async (work) => {
    await held;
    return work();
  };
  server.answer(meOf('newer'));
  expect(await client.getMe(ROLES)).toMatchObject({ ok: true });
  release();
  const newer = async (): Promise<boolean> => (await store.me.load())!.includes('newer');
  await waitFor('the answer is stored', hangTimeoutMs(), newer);
});

it('is an option of getMe only', async () => {
  const untyped = client as unknown as Record<string, (...given: unknown[]) => Promise<unknown>>;
  for (const method of ['getAccount', 'logOut', 'refresh']) {
    const given = method === 'refresh' ? [{ orStale: true }] : [{}, { orStale: true }];
    await expect(untyped[method]!(...given)).rejects.toThrow(
      new TypeError(`The options of ${method} do not take "orStale"`),
    );
  }
});
