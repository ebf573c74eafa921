import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { type Client, createClient, memoryStore, type TokenStore } from '../src/index.ts';
import {
  aSignIn,
  type Answer,
  type Asked,
  hangUp,
  json,
  OddServer,
  page,
  problem,
  silence,
} from './support/odd-server.ts';

const OK = json(200, { ok: true, status: 'ok' });
const QUEUED = { ok: false, sessionRevoked: false, queued: true };

let server: OddServer;
let store: Required<Omit<TokenStore, 'lock'>> & TokenStore;
let client: Client;
/** The refresh tokens of the logouts that arrived. */
let loggedOut: string[];
let answerLogOut: Answer;

beforeEach(async () => {
  server = await OddServer.start();
  store = memoryStore('session.0') as typeof store;
  client = createClient({ baseUrl: server.url, store });
  loggedOut = [];
  server.answer((response, asked) => {
    if (!asked.path.endsWith('/logout')) return OK(response, asked);
    loggedOut.push((JSON.parse(asked.body) as Asked & { refreshToken: string }).refreshToken);
    answerLogOut(response, asked);
  });
});
afterEach(async () => {
  vi.restoreAllMocks();
  await server.stop();
});

const emptied = (): Promise<unknown> =>
  waitFor('no logout is queued', hangTimeoutMs(), () => store.logOuts.load() === undefined);

async function queue(refreshToken: string): Promise<void> {
  await store.save(refreshToken);
  expect(await client.logOut({}, { timeoutMs: 200 })).toMatchObject(QUEUED);
}

it.each([
  ['is not reached', hangUp],
  ['answers nothing', silence],
  ['does not work', problem(503, 'unavailable')],
  ['has a proxy that answers', page(401, '<html>Log in')],
  ['is behind a portal', page(200, '<html>Log in')],
  ['answers other JSON', json(200, {})],
])('is queued if Accounts %s, and sent after the next answer', async (_, answer) => {
  for (const isRestarted of [false, true]) {
    await client.getLiveness();
    answerLogOut = answer;
    await queue('session.0');
    expect(await client.isLoggedIn()).toBe(false);
    answerLogOut = OK;
    if (isRestarted) client = createClient({ baseUrl: server.url, store });
    await client.getLiveness();
    await emptied();
    expect(loggedOut.splice(0)).toEqual(['session.0', 'session.0']);
    client = createClient({ baseUrl: server.url, store });
  }
});

it.each([
  [OK, { ok: true, sessionRevoked: true, queued: false }],
  [problem(401, 'invalid_refresh_token'), { ok: false, sessionRevoked: false, queued: false }],
])('is not queued if Accounts says what became of the session', async (answer, expected) => {
  answerLogOut = answer;
  expect(await client.logOut()).toMatchObject(expected);
  expect(store.logOuts.load()).toBeUndefined();
});

it('is queued before the store forgets the session, and that before the request', async () => {
  const steps: unknown[] = [];
  const working = { ...store.logOuts };
  store.logOuts.save = (text) => {
    steps.push(['queue', text, store.load()]);
    return working.save(text);
  };
  answerLogOut = (response, asked) => {
    steps.push(['request', store.logOuts.load(), store.load()]);
    OK(response, asked);
  };
  await client.logOut();
  expect(steps).toEqual([
    ['queue', 'session.0', 'session.0'],
    ['request', 'session.0', undefined],
    ['queue', undefined, undefined],
  ]);
});

it('is not queued in a store that cannot or fails to', async () => {
  answerLogOut = hangUp;
  const fail = (): never => {
    throw new Error('the disk is full');
  };
  const session = { load: () => 'session.0', save: () => undefined };
  for (const wrong of [{}, { logOuts: { load: fail, save: fail } }, { logOuts: store.logOuts, save: fail }]) {
    client = createClient({ baseUrl: server.url, store: { ...session, ...wrong } });
    expect(await client.logOut()).toMatchObject({ ok: false, sessionRevoked: false, queued: false });
    await client.getLiveness();
  }
  answerLogOut = OK;
  expect(await client.logOut({ refreshToken: 'another' })).toMatchObject({ ok: true, queued: false });
});

it.each([
  ['ten', 43, 10],
  ['that fit into 1,280 units', 200, 5],
])('keeps the last %s', async (_, macLength, kept) => {
  answerLogOut = hangUp;
  const mac = 'm'.repeat(macLength);
  const tokens = Array.from({ length: 11 }, () => `${crypto.randomUUID()}.12345678.${mac}`);
  for (const token of tokens) await queue(token);
  expect((await store.logOuts.load())!.length).toBeLessThanOrEqual(1_280);
  loggedOut = [];
  answerLogOut = problem(401, 'invalid_refresh_token');
  await client.getLiveness();
  await emptied();
  expect(loggedOut.toSorted()).toEqual(tokens.slice(-kept).toSorted());
});

it('is tried once a minute at most, until Accounts says what became of the session', async () => {
  const now = performance.now();
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
  answerLogOut = problem(503, 'unavailable');
  await queue('session.0');
  const retriedAfter = async (ms: number, times: number): Promise<void> => {
    clock.mockImplementation(() => now + ms);
    await client.getLiveness();
    await client.getLiveness();
    await waitFor('the logout was sent again', hangTimeoutMs(), () => loggedOut.length >= times);
    expect(loggedOut).toHaveLength(times);
  };
  await retriedAfter(0, 2);
  await retriedAfter(59_000, 2);
  await retriedAfter(61_000, 3);
  await queue('session.1');
  await retriedAfter(120_000, 4);
  answerLogOut = OK;
  await retriedAfter(122_000, 6);
  await emptied();
});

it('is not sent twice while its answer is awaited', async () => {
  let answer: () => void = () => undefined;
  answerLogOut = (response, asked) => (answer = () => OK(response, asked));
  const leaving = client.logOut();
  await waitFor('the logout has arrived', hangTimeoutMs(), () => loggedOut.length === 1);
  await client.getLiveness();
  await client.getLiveness();
  expect(loggedOut).toHaveLength(1);
  answer();
  expect(await leaving).toMatchObject({ ok: true, sessionRevoked: true });
  await client.getLiveness();
  expect(loggedOut).toHaveLength(1);
});

it('is sent after the answer to another logout', async () => {
  answerLogOut = hangUp;
  await queue('session.0');
  await store.save('session.1');
  answerLogOut = OK;
  expect(await client.logOut()).toMatchObject({ ok: true, queued: false });
  await emptied();
  expect(loggedOut).toEqual(['session.0', 'session.1', 'session.0']);
});

it('does not touch the session of a login that follows', async () => {
  answerLogOut = hangUp;
  await queue('session.0');
  const signIn = aSignIn();
  answerLogOut = OK;
  server.answer(json(200, signIn), OK);
  await client.login({ email: 'ada@example.com', password: 'p' });
  await emptied();
  expect(server.asked.map(({ path }) => path)).toEqual(['/api/auth/login', '/api/auth/logout']);
  expect(store.load()).toBe(signIn.refreshToken);
});
