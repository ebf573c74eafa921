import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import {
  type Client,
  createClient,
  memoryStore,
  type SessionChange,
  StoreError,
  type TokenStore,
} from '../src/index.ts';
import {
  aSignIn,
  type Answer,
  type Asked,
  failedWith,
  hangUp,
  json,
  OddServer,
  page,
  problem,
  silence,
} from './support/odd-server.ts';

const ME = json(200, { user: {}, orgs: [] });

let server: OddServer;
/** with a refresh token, which a client finds there */
let store: TokenStore;
let client: Client;

beforeEach(async () => {
  server = await OddServer.start();
  store = memoryStore('refresh.0');
  client = createClient({ baseUrl: server.url, store });
});
afterEach(() => server.stop());

const paths = (): string[] => server.asked.map(({ path }) => path.replace('/api/', ''));
const shown = (): unknown[] =>
  server.asked
    .filter(({ path }) => path.endsWith('/refresh'))
    .map(({ body }) => (JSON.parse(body) as Asked & { refreshToken: string }).refreshToken);

it('asks for a refresh token, and stores nothing else', async () => {
  const saved: unknown[] = [];
  store = { load: () => undefined, save: (token) => void saved.push(token) };
  const signIn = aSignIn();
  server.answer(json(200, signIn), ME);
  client = createClient({ baseUrl: server.url, store });

  expect(await client.login({ email: 'ada@example.com', password: 'p' })).toMatchObject({ ok: true });
  await client.getMe();
  expect(JSON.parse(server.asked[0]!.body)).toMatchObject({ refresh: true });
  expect(server.asked[1]!.headers.authorization).toBe(`Bearer ${signIn.token}`);
  expect(saved).toEqual([signIn.refreshToken]);
});

it('shares one refresh among all requests, by the clock of the service', async () => {
  const renewed = aSignIn();
  server.answer(json(200, renewed), ME);
  const all = await Promise.all([client.getMe(), client.getMe(), client.getAccount(), client.refresh()]);
  await client.getMe();
  expect(all.filter(({ ok }) => ok)).toHaveLength(3);
  expect(paths().filter((path) => path === 'auth/refresh')).toHaveLength(1);
  expect(store.load()).toBe(renewed.refreshToken);
});

it('renews a token that is about to expire, and one that the service refuses, once', async () => {
  const refused = problem(401, 'invalid_token');
  server.answer(json(200, aSignIn(0)), json(200, aSignIn()), refused, json(200, aSignIn()), ME);
  client = createClient({ baseUrl: server.url, store: memoryStore() });
  await client.login({ email: 'ada@example.com', password: 'p' });

  expect(await client.getMe()).toMatchObject({ ok: true });
  expect(paths()).toEqual(['auth/login', 'auth/refresh', 'me', 'auth/refresh', 'me']);

  server.answer(refused, json(200, aSignIn()), refused);
  expect(await client.getMe()).toMatchObject(failedWith('invalid_token', { status: 401 }));
  expect(paths()).toEqual(['me', 'auth/refresh', 'me']);
});

it('repeats a refresh whose answer was lost with the same token', async () => {
  server.answer(hangUp, problem(503, 'unavailable'), json(200, aSignIn()));
  expect(await client.refresh()).toMatchObject({ ok: true });
  expect(shown()).toEqual(['refresh.0', 'refresh.0', 'refresh.0']);
});

it('repeats a refresh that may have arrived, also after a repetition that was refused', async () => {
  const stopped = await OddServer.start();
  const { url: refused } = stopped;
  await stopped.stop();
  let attempts = 0;
  const refusing: typeof fetch = (input, init) => {
    attempts += 1;
    return fetch(attempts === 2 ? refused : input, init);
  };
  server.answer(hangUp, json(200, aSignIn()));
  client = createClient({ baseUrl: server.url, store, fetch: refusing });
  expect(await client.refresh()).toMatchObject({ ok: true });
  expect(attempts).toBe(3);
  expect(shown()).toEqual(['refresh.0', 'refresh.0']);
});

it('reads the store again before each attempt, between which others have the lock', async () => {
  let queue: Promise<unknown> = Promise.resolve();
  store.lock = (work) => {
    const run = queue.then(work);
    queue = run;
    return run;
  };
  const refreshElsewhere: Answer = (response, asked) => {
    void store.lock!(async () => store.save('refresh.elsewhere'));
    hangUp(response, asked);
  };
  server.answer(refreshElsewhere, json(200, aSignIn()));
  expect(await client.refresh()).toMatchObject({ ok: true });
  expect(shown()).toEqual(['refresh.0', 'refresh.elsewhere']);
});

it('gives no access token away before its refresh token is stored', async () => {
  let [begin, end]: (() => void)[] = [];
  const saving = new Promise<void>((done) => (begin = done));
  const saved = new Promise<void>((done) => (end = done));
  const save = (): Promise<void> => {
    begin!();
    return saved;
  };
  client = createClient({ baseUrl: server.url, store: { ...store, save } });
  server.answer(json(200, aSignIn()), ME);
  const first = client.getMe();
  await saving;

  expect(await client.getMe({}, { timeoutMs: 100 })).toMatchObject(failedWith('timed_out'));
  expect(paths()).toEqual(['auth/refresh']);
  end!();
  expect(await first).toMatchObject({ ok: true });
});

it('forgets a login that has ended, and no other', async () => {
  server.answer(problem(400, 'validation_failed'));
  expect(await client.getMe()).toMatchObject({ problem: { status: 400 } });
  expect(await client.isLoggedIn()).toBe(true);
  server.answer(problem(403, 'invalid_refresh_token'));
  expect(await client.getMe()).toMatchObject({ problem: { status: 403 } });
  expect(await client.isLoggedIn()).toBe(true);
  server.answer(problem(401, 'invalid_refresh_token'));
  expect(await client.getMe()).toMatchObject(failedWith('invalid_refresh_token'));
  expect(await client.isLoggedIn()).toBe(false);
  expect(await client.getMe()).toMatchObject(failedWith('not_logged_in', { status: null }));
  expect(server.asked).toHaveLength(1);
});

it('takes the token of a process that was faster, where there is no lock', async () => {
  const refuse: Answer = (response, asked) => {
    void store.save('refresh.faster');
    problem(401, 'invalid_refresh_token')(response, asked);
  };
  server.answer(refuse, json(200, aSignIn()), ME);
  expect(await client.getMe()).toMatchObject({ ok: true });
  expect(shown()).toEqual(['refresh.0', 'refresh.faster']);
});

it('continues with new tokens that the store would not take, and saves the last one later', async () => {
  const [first, second, third] = [aSignIn(), aSignIn(), aSignIn()];
  let stored: string | undefined = 'refresh.0';
  let isFull = true;
  store = {
    load: () => stored,
    save: (token) => {
      if (isFull) throw new Error('no space left');
      stored = token;
    },
  };
  server.answer(json(200, first), ME);
  client = createClient({ baseUrl: server.url, store });

  expect(await client.getMe()).toMatchObject({ ok: true });
  expect(stored).toBe('refresh.0');
  server.answer(json(200, second));
  await client.refresh();
  expect(shown()).toEqual([first.refreshToken]);
  expect(stored).toBe('refresh.0');
  isFull = false;
  server.answer(json(200, third));
  await client.refresh();
  expect(shown()).toEqual([second.refreshToken]);
  expect(stored).toBe(third.refreshToken);
});

const FULL = new Error('the disk is full');
const diskFull = (): never => {
  throw FULL;
};
const CREDENTIALS = { email: 'ada@example.com', password: 'p' };

it('names a store that fails, and does not tell whether there is a login', async () => {
  server.answer(json(200, aSignIn()));
  client = createClient({ baseUrl: server.url, store: { load: diskFull, save: diskFull } });

  const failed = failedWith('store_failed', { cause: FULL });
  expect(await client.getMe()).toMatchObject(failed);
  expect(await client.login(CREDENTIALS)).toMatchObject(failed);
  expect(await client.logOut()).toMatchObject({ ...failed, sessionRevoked: false });
  const unread = client.isLoggedIn();
  await expect(unread).rejects.toBeInstanceOf(StoreError);
  await expect(unread).rejects.toMatchObject({ code: 'store_failed', cause: FULL });
});

it('does not repeat a refresh that it could not send', async () => {
  let loads = 0;
  const load = (): never => {
    loads += 1;
    throw FULL;
  };
  client = createClient({ baseUrl: server.url, store: { load, save: diskFull } });
  expect(await client.getMe()).toMatchObject(failedWith('store_failed'));
  expect(await createClient({ baseUrl: server.url, store: memoryStore() }).getMe()).toMatchObject(
    failedWith('not_logged_in'),
  );
  expect(loads).toBe(1);
  expect(server.asked).toEqual([]);
});

it.each(['save', 'lock'] as const)(
  'revokes the session of a login that the store does not take: %s fails',
  async (name) => {
    const signIn = aSignIn();
    server.answer(json(200, signIn), json(200, { ok: true }));
    client = createClient({ baseUrl: server.url, store: { ...memoryStore(), [name]: diskFull } });

    expect(await client.login(CREDENTIALS)).toMatchObject(failedWith('store_failed'));
    const headers = { authorization: `Bearer ${signIn.token}` };
    expect(server.asked[1]).toMatchObject({ path: '/api/auth/logout', headers });
    server.answer();
    expect(await client.isLoggedIn()).toBe(false);
    expect(server.asked).toEqual([]);
  },
);

it.each(['load', 'save', 'lock'] as const)(
  'revokes the session, and forgets it in this process, where %s of the store fails',
  async (name) => {
    const signIn = aSignIn();
    server.answer(json(200, signIn), json(200, { ok: true }));
    store = memoryStore();
    client = createClient({ baseUrl: server.url, store });
    await client.login(CREDENTIALS);
    const working = { ...store };
    Object.assign(store, { [name]: diskFull });

    const failed = failedWith('store_failed', { cause: FULL });
    expect(await client.logOut()).toMatchObject({ ...failed, sessionRevoked: true });
    expect(JSON.parse(server.asked[1]!.body)).toEqual({ refreshToken: signIn.refreshToken });
    Object.assign(store, { lock: undefined }, working);
    expect(await client.isLoggedIn()).toBe(false);
    expect(await client.getMe()).toMatchObject(failedWith('not_logged_in'));
    expect(store.load()).toBe(signIn.refreshToken);

    expect(await client.logOut()).toMatchObject({ ok: true, sessionRevoked: true });
    expect(store.load()).toBeUndefined();
    expect(await client.logOut()).toMatchObject({ ...failedWith('not_logged_in'), sessionRevoked: false });
  },
);

it('forgets a login whose newest token the store did not take, either', async () => {
  const renewed = aSignIn();
  server.answer(json(200, renewed), json(200, { ok: true }));
  client = createClient({ baseUrl: server.url, store: { load: () => 'refresh.0', save: diskFull } });
  expect(await client.refresh()).toMatchObject({ ok: true });
  expect(await client.logOut()).toMatchObject({ ...failedWith('store_failed'), sessionRevoked: true });
  expect(JSON.parse(server.asked[1]!.body)).toEqual({ refreshToken: renewed.refreshToken });
  expect(await client.isLoggedIn()).toBe(false);
  expect(await client.getMe()).toMatchObject(failedWith('not_logged_in'));
});

it('logs out while a refresh waits for its answer', async () => {
  let hasArrived: () => void = () => undefined;
  const arrived = new Promise<void>((done) => (hasArrived = done));
  server.answer(() => hasArrived(), json(200, { ok: true }));
  const waiting = client.getMe();
  await arrived;

  expect(await client.logOut()).toMatchObject({ ok: true, sessionRevoked: true });
  expect(await waiting).toMatchObject(failedWith('not_logged_in'));
  expect(paths()).toEqual(['auth/refresh', 'auth/logout']);
  expect(store.load()).toBeUndefined();
});

it('logs in while a refresh of the last login waits for its answer', async () => {
  const signIn = aSignIn();
  let hasArrived: () => void = () => undefined;
  const arrived = new Promise<void>((done) => (hasArrived = done));
  server.answer(() => hasArrived(), json(200, signIn), ME);
  const waiting = client.getMe();
  await arrived;

  expect(await client.login(CREDENTIALS)).toMatchObject({ ok: true });
  expect(await waiting).toMatchObject(failedWith('not_logged_in'));
  expect(store.load()).toBe(signIn.refreshToken);
  expect(await client.getMe()).toMatchObject({ ok: true });
  expect(paths()).toEqual(['auth/refresh', 'auth/login', 'me']);
});

it('logs out here, also when the service cannot be told', async () => {
  server.answer(hangUp);
  expect(await client.logOut()).toMatchObject({ sessionRevoked: false, problem: { code: 'unreachable' } });
  expect(await client.isLoggedIn()).toBe(false);
  server.answer(json(200, { ok: true }));
  const other = await client.logOut({ refreshToken: 'refresh.0' });
  expect(other).toMatchObject({ ok: true, sessionRevoked: true });
  expect(JSON.parse(server.asked[0]!.body)).toEqual({ refreshToken: 'refresh.0' });
});

it('lets others wait on when one caller gives a shared refresh up', async () => {
  const controller = new AbortController();
  let answer: () => void = () => undefined;
  server.answer((response, asked) => {
    answer = () => json(200, aSignIn())(response, asked);
    controller.abort();
  }, ME);
  const patient = client.getMe();

  expect(await client.getMe({}, { signal: controller.signal })).toMatchObject(failedWith('aborted'));
  answer();
  expect(await patient).toMatchObject({ ok: true });
});

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
    expect(await offline.getMe()).toMatchObject(failedWith('unreachable'));
    expect(attempts).toBe(expected);
    // No refresh goes on: the next call begins another one.
    expect(await offline.refresh()).toMatchObject(failedWith('unreachable'));
    expect(attempts).toBe(2 * expected);
    expect(await offline.isLoggedIn()).toBe(true);
  });

  it('is asked once more for what needs no login, too', async () => {
    const offline = await refused();
    expect(await offline.getLiveness()).toMatchObject(failedWith('unreachable'));
    expect(attempts).toBe(2);
  });
});

it('ends the whole call in time, while the refresh goes on and is stored', async () => {
  let answer: () => void = () => undefined;
  server.answer((response, asked) => {
    answer = () => json(200, aSignIn())(response, asked);
  }, ME);

  expect(await client.getMe({}, { timeoutMs: 50 })).toMatchObject(
    failedWith('timed_out', { detail: 'Accounts did not respond within 50 ms.' }),
  );
  await waitFor('the refresh has arrived', hangTimeoutMs(), () => server.asked.length === 1);
  answer();
  await waitFor('the new token is stored', hangTimeoutMs(), isRenewed);
  expect(await client.getMe()).toMatchObject({ ok: true });
  expect(server.asked).toHaveLength(2);
});

it('answers at once where there are to be no retries, while an unanswered refresh is repeated', async () => {
  const renewed = aSignIn();
  server.answer(hangUp, hangUp, json(200, renewed));
  expect(await client.getMe({}, { retries: 0 })).toMatchObject(failedWith('unreachable'));
  expect(server.asked).toHaveLength(1);
  await waitFor('the new token is stored', hangTimeoutMs(), isRenewed);
  expect(store.load()).toBe(renewed.refreshToken);
  expect(server.asked.map(({ path }) => path)).toEqual(Array.from({ length: 3 }, () => '/api/auth/refresh'));
});

it('tells what the refresh was answered when the time is over', async () => {
  server.answer(page(502, '<html>Bad gateway'), silence);
  expect(await client.getMe({}, { timeoutMs: 1_000 })).toMatchObject(failedWith('not_json', { status: 502 }));
  expect(server.asked.map(({ path }) => path)).not.toContain('/api/me');
});

it('waits as long as Retry-After says before it repeats a refresh', async () => {
  const times: number[] = [];
  const timed =
    (answer: Answer): Answer =>
    (response, asked) => {
      times.push(performance.now());
      answer(response, asked);
    };
  server.answer(timed(problem(503, 'unavailable', { 'Retry-After': '1' })), timed(json(200, aSignIn())), ME);

  expect(await client.getMe()).toMatchObject({ ok: true });
  expect(times[1]! - times[0]!).toBeGreaterThan(990);
});

it('does not repeat a refresh that is to wait for longer than its answer is kept', async () => {
  server.answer(problem(503, 'unavailable', { 'Retry-After': '60' }));
  for (let time = 0; time < 2; time += 1)
    expect(await client.getMe()).toMatchObject(failedWith('unavailable', { retryAfter: 60 }));
  expect(server.asked).toHaveLength(2);
});

it('measures the time of a refresh by no clock that can be set back', async () => {
  const now = vi.spyOn(Date, 'now');
  server.answer((response, asked) => {
    now.mockImplementation(() => 0);
    problem(503, 'unavailable', { 'Retry-After': '16' })(response, asked);
  });
  for (let time = 0; time < 2; time += 1)
    expect(await client.getMe()).toMatchObject(failedWith('unavailable', { retryAfter: 16 }));
  expect(server.asked).toHaveLength(2);
  now.mockRestore();
});

it('answers a call at once that comes while a refresh has to wait', async () => {
  server.answer(problem(503, 'unavailable', { 'Retry-After': '6' }), json(200, aSignIn()), ME);
  for (let time = 0; time < 2; time += 1)
    expect(await client.getMe()).toMatchObject(failedWith('unavailable', { retryAfter: 6 }));
  expect(server.asked).toHaveLength(1);
  await client.logOut();
});

describe('the listeners of a client', () => {
  const ENDED = { event: 'logged_out', reason: 'session_ended' };
  let changes: SessionChange[];
  beforeEach(() => {
    changes = [];
    client.onSessionChange((change) => changes.push(change));
  });

  it('are called after a login, a login over it, a logout, and none without a session', async () => {
    server.answer(json(200, aSignIn()), json(200, aSignIn()), json(200, { ok: true }));
    await client.login(CREDENTIALS);
    expect(changes).toEqual([{ event: 'logged_in' }]);
    await client.login(CREDENTIALS);
    await client.logOut();
    await client.logOut();
    await client.getMe();
    expect(changes.slice(1)).toEqual([{ event: 'logged_in' }, { event: 'logged_out', reason: 'log_out' }]);
  });

  it('are called after a session has ended, and after the account was deleted', async () => {
    server.answer(problem(401, 'invalid_refresh_token'));
    await client.getMe();
    await client.getMe();
    expect(changes).toEqual([ENDED]);
    server.answer(json(200, aSignIn()), json(200, { ok: true, dryRun: true }), json(200, { ok: true }));
    await client.login(CREDENTIALS);
    await client.deleteAccount({ password: 'p', dryRun: true });
    await client.deleteAccount({ password: 'p' });
    expect(changes.slice(2)).toEqual([{ event: 'logged_out', reason: 'account_deleted' }]);
  });

  it('are not called while a login without a refresh token has its access token', async () => {
    const { refreshToken: _, ...signIn } = aSignIn();
    server.answer(json(200, signIn), ME);
    client = createClient({ baseUrl: server.url, store: memoryStore() });
    client.onSessionChange((change) => changes.push(change));
    await client.login({ ...CREDENTIALS, refresh: false });
    expect(await client.refresh()).toMatchObject(failedWith('not_logged_in'));
    expect(await client.getMe()).toMatchObject({ ok: true });
    expect(changes).toEqual([{ event: 'logged_in' }]);
  });

  it('are called at the first call after another process has logged out', async () => {
    expect(await client.isLoggedIn()).toBe(true);
    await store.save(undefined);
    expect(await client.getMe()).toMatchObject(failedWith('not_logged_in'));
    expect(changes).toEqual([ENDED]);
  });

  it('are not called for a failed login, and once for a logout that the store refuses', async () => {
    server.answer(json(200, aSignIn()), json(200, { ok: true }));
    const working = { ...store };
    store.save = diskFull;
    expect(await client.login(CREDENTIALS)).toMatchObject(failedWith('store_failed'));
    expect(changes).toEqual([]);
    await client.logOut();
    Object.assign(store, working);
    await client.logOut();
    expect(changes).toEqual([{ event: 'logged_out', reason: 'log_out' }]);
  });

  it('change no result, and can be removed', async () => {
    const failing = (): never => {
      throw new Error('listener');
    };
    client.onSessionChange(failing);
    client.onSessionChange(() => Promise.reject(new Error('listener')));
    const stop = client.onSessionChange((change) => changes.push(change));
    server.answer(json(200, aSignIn()));
    expect(await client.login(CREDENTIALS)).toMatchObject({ ok: true });
    stop();
    await client.login(CREDENTIALS);
    expect(changes).toHaveLength(3);
    const untyped = client as unknown as { onSessionChange(listener: unknown): unknown };
    expect(() => untyped.onSessionChange(undefined)).toThrow(
      new TypeError('onSessionChange needs a function'),
    );
  });
});
