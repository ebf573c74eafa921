import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { type Client, createClient, memoryStore, type TokenStore } from '../src/index.ts';
import { aSignIn, hangUp, json, OddServer, page, problem, silence } from './support/odd-server.ts';

const ME = json(200, { user: {}, orgs: [] });

let server: OddServer;
let store: TokenStore;
let client: Client;

beforeEach(async () => {
  server = await OddServer.start();
  store = memoryStore('refresh.0');
  client = createClient({ baseUrl: server.url, store });
});
afterEach(() => server.stop());

const isRenewed = (): boolean => store.load() !== 'refresh.0';

describe('a service that refuses connections', () => {
  let attempts: number;

  const refused = async (retries?: number): Promise<Client> => {
    const stopped = await OddServer.start();
    const { url } = stopped;
    await stopped.stop();
    attempts = 0;
    const counted: typeof fetch = (...request) => {
      attempts += 1;
      return fetch(...request);
    };
    return createClient({ baseUrl: url, store, fetch: counted, retries });
  };

  it.each([
    [undefined, 2],
    [0, 1],
    [5, 2],
  ])('is unreachable, with retries %s after %i attempts', async (retries, expected) => {
    const offline = await refused(retries);

    expect(await offline.getMe()).toMatchObject({ problem: { code: 'unreachable' } });
    expect(attempts).toBe(expected);
    // No refresh goes on: the next call begins another one.
    expect(await offline.refresh()).toMatchObject({ problem: { code: 'unreachable' } });
    expect(attempts).toBe(2 * expected);
    expect(await offline.isLoggedIn()).toBe(true);
  });

  it('is asked once more for what needs no login, too', async () => {
    const offline = await refused();
    expect(await offline.getLive()).toMatchObject({ problem: { code: 'unreachable' } });
    expect(attempts).toBe(2);
  });
});

it('ends the whole call in time, while the refresh goes on and is stored', async () => {
  let answer: () => void = () => undefined;
  server.answer((response, asked) => {
    answer = () => json(200, aSignIn())(response, asked);
  }, ME);

  expect(await client.getMe({}, { timeoutMs: 50 })).toMatchObject({
    problem: { code: 'timed_out', detail: 'Nothing was answered within 50 ms.' },
  });
  await waitFor('the refresh has arrived', hangTimeoutMs(), () => server.asked.length === 1);
  answer();
  await waitFor('the new token is stored', hangTimeoutMs(), isRenewed);
  expect(await client.getMe()).toMatchObject({ ok: true });
  expect(server.asked).toHaveLength(2);
});

it('answers at once where there are to be no retries, while an unanswered refresh is repeated', async () => {
  const renewed = aSignIn();
  server.answer(hangUp, hangUp, json(200, renewed));

  expect(await client.getMe({}, { retries: 0 })).toMatchObject({ problem: { code: 'unreachable' } });
  expect(server.asked).toHaveLength(1);
  await waitFor('the new token is stored', hangTimeoutMs(), isRenewed);
  expect(store.load()).toBe(renewed.refreshToken);
  expect(server.asked.map(({ path }) => path)).toEqual(Array.from({ length: 3 }, () => '/api/auth/refresh'));
});

it('tells what the refresh was answered when the time is over', async () => {
  server.answer(page(502, '<html>Bad gateway'), silence);

  expect(await client.getMe({}, { timeoutMs: 1_000 })).toMatchObject({
    problem: { code: 'not_json', status: 502 },
  });
  expect(server.asked.map(({ path }) => path)).not.toContain('/api/me');
});

it('waits as long as Retry-After says before it repeats a refresh', async () => {
  const times: number[] = [];
  server.answer(
    (response, asked) => {
      times.push(performance.now());
      problem(503, 'unavailable', { 'Retry-After': '1' })(response, asked);
    },
    (response, asked) => {
      times.push(performance.now());
      json(200, aSignIn())(response, asked);
    },
    ME,
  );

  expect(await client.getMe()).toMatchObject({ ok: true });
  expect(times[1]! - times[0]!).toBeGreaterThan(990);
});

it('does not repeat a refresh that is to wait for longer than its answer is kept', async () => {
  server.answer(problem(503, 'unavailable', { 'Retry-After': '60' }));

  const busy = { problem: { code: 'unavailable', retryAfter: 60 } };
  expect(await client.getMe()).toMatchObject(busy);
  expect(await client.getMe()).toMatchObject(busy);
  expect(server.asked).toHaveLength(2);
});

it('answers a call at once that comes while a refresh has to wait', async () => {
  server.answer(problem(503, 'unavailable', { 'Retry-After': '6' }), json(200, aSignIn()), ME);

  const busy = { problem: { code: 'unavailable', retryAfter: 6 } };
  expect(await client.getMe()).toMatchObject(busy);
  expect(await client.getMe()).toMatchObject(busy);
  expect(server.asked).toHaveLength(1);
  await client.logOut();
});
