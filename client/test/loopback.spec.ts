import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect, Server } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { loginAtProvider, type ProviderLoginOptions } from '../src/loopback.ts';
import { failedWith } from './support/odd-server.ts';

type Client = Parameters<typeof loginAtProvider>[0];
type Started = Parameters<Client['startProviderLogin']>[0];
type Finish = Client['finishProviderLogin'];
type Answer = Awaited<ReturnType<Finish>>;

const STATE = 's'.repeat(43);
const CODE = 'c'.repeat(43);
const AUTHORIZATION_URL = 'https://login.example.com/authorize?client_id=accounts';
const success = (data: object) =>
  ({ ok: true, status: 200, data, etag: undefined, replayed: false, dryRun: false, requestId: 'r' }) as never;
const LOGGED_IN: Answer = success({ user: { id: 'u' } });
const refused = (code: string): Answer => failedWith(code, { status: 403, detail: 'D' }) as Answer;

let started: Started[];
let finished: Parameters<Finish>[0][];
let signals: unknown[];
let answers: Answer[];
let authorizationUrl: string;

/** Answers as Accounts does, which is not part of these tests. */
const client: Client = {
  startProviderLogin: (input, options) => {
    started.push(input);
    signals.push(options?.signal);
    return Promise.resolve(success({ authorizationUrl, state: STATE, expiresAt: '' }));
  },
  finishProviderLogin: (input, options) => {
    finished.push(input);
    signals.push(options?.signal);
    return Promise.resolve(answers.shift() ?? LOGGED_IN);
  },
};

beforeEach(() => {
  [started, finished, signals, answers, authorizationUrl] = [[], [], [], [], AUTHORIZATION_URL];
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const redirectUri = (): string => started.at(-1)!.redirectUri!;
const callback = (parameters: Record<string, string>): string =>
  `${redirectUri()}?${new URLSearchParams(parameters).toString()}`;
const withCode = (): Promise<Response> => fetch(callback({ code: CODE, state: STATE }));

const CALLBACK = `/callback?code=${CODE}&state=${STATE}`;

/** A request of a browser that follows no redirect. It needs no timer, as `fetch` does. */
async function visit(target: string): Promise<void> {
  const socket = connect(Number(new URL(redirectUri()).port), '127.0.0.1');
  socket.end(`GET ${target} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  await once(socket.resume(), 'close');
}

/** A login at which the browser does what `browse` does. */
const logIn = (browse: (url: string) => unknown, more: Partial<ProviderLoginOptions> = {}) =>
  loginAtProvider(client, { provider: 'acme', open: browse, ...more });

async function expectClosed(): Promise<void> {
  await expect.poll(() => fetch(redirectUri()).then(() => 'open', String)).toMatch('fetch failed');
}

describe('a login at a provider by a loopback address', () => {
  it('opens the browser, gets the code from it, and finishes with the verifier', async () => {
    const opened: string[] = [];
    const browse = (url: string): Promise<Response> => (opened.push(url), withCode());
    const more = { loginHint: 'ada@example.com', maxAge: 60, deviceName: "Ada's laptop" };

    expect(await logIn(browse, more)).toBe(LOGGED_IN);

    expect(opened).toEqual([AUTHORIZATION_URL]);
    const [{ codeVerifier, ...finish }] = finished as [Parameters<Finish>[0]];
    expect(finish).toEqual({ code: CODE, deviceName: "Ada's laptop" });
    expect(started).toEqual([
      {
        name: 'acme',
        redirectUri: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/callback$/) as string,
        codeChallenge: createHash('sha256').update(codeVerifier).digest('base64url'),
        codeChallengeMethod: 'S256',
        loginHint: 'ada@example.com',
        maxAge: 60,
      },
    ]);
    await expectClosed();
  });

  it('leaves the browser on a page without the code, and closes, also for connections that it does not use', async () => {
    const shown: Response[] = [];
    const unused = await new Promise<ReturnType<typeof connect>>((found) => {
      void logIn(async () => {
        const socket = connect(Number(new URL(redirectUri()).port), '127.0.0.1');
        await once(socket, 'connect');
        found(socket);
        shown.push(await withCode());
      });
    });
    await once(unused, 'close');

    const [page] = shown as [Response];
    expect(page.url).toBe(new URL('/', redirectUri()).href);
    expect(await page.text()).toContain('You can close this page');
    expect(Object.fromEntries(page.headers)).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'content-security-policy': "default-src 'none'",
    });
    await expectClosed();
  });

  it('takes nothing but the callback of this login', async () => {
    const statuses: number[] = [];
    const login = logIn(async () => {
      const right = { code: CODE, state: STATE };
      const wrong = [
        callback({ code: 'x', state: 't'.repeat(43) }),
        callback({ code: 'x', state: '' }),
        callback({ code: 'x' }),
        callback({ state: STATE }),
        callback({ ...right, error: 'provider_denied' }),
        callback(right).replace('/callback', '/other'),
        new URL('/', redirectUri()).href,
        `${new URL('/', redirectUri()).href}/`,
        new URL('/favicon.ico', redirectUri()).href,
      ];
      for (const url of wrong) statuses.push((await fetch(url, { redirect: 'manual' })).status);
      statuses.push((await fetch(callback(right), { method: 'POST' })).status);
      expect(statuses).toEqual(Array(10).fill(404));
      await withCode();
    });

    expect(await login).toBe(LOGGED_IN);
    expect(finished).toMatchObject([{ code: CODE }]);
  });

  it.each([
    ['provider_denied', {}],
    ['provider_unavailable', {}],
    ['insufficient_user_authentication', {}],
    ['network_differs', {}],
    ['later_error', { code: 'unknown_code', receivedCode: 'later_error' }],
    ['toString', { code: 'unknown_code', receivedCode: 'toString' }],
  ])('returns the error %s of the callback, and a retry starts over', async (error, more) => {
    const pages = [() => fetch(callback({ error, state: STATE })), withCode];
    const login = await logIn(() => pages.shift()!());

    expect(login).toMatchObject(failedWith(error, { status: null, ...more }));
    expect(finished).toEqual([]);
    await expectClosed();
    expect(!login.ok && (await login.retry())).toBe(LOGGED_IN);
    expect(started).toHaveLength(2);
  });

  it('continues with what was missing, while Accounts knows the code', async () => {
    answers = [refused('link_required'), refused('second_factor_code_required'), refused('rate_limited')];
    let login = await logIn(withCode);
    for (const proof of [{ password: 'p' }, { secondFactorCode: '123456' }, undefined]) {
      if (!login.ok) login = await login.retry(proof);
    }

    expect(login).toBe(LOGGED_IN);
    expect(started).toHaveLength(1);
    expect(finished.map(({ password, secondFactorCode }) => [password, secondFactorCode])).toEqual([
      [undefined, undefined],
      ['p', undefined],
      ['p', '123456'],
      ['p', '123456'],
    ]);
    expect(new Set(finished.map(({ code, codeVerifier }) => code + codeVerifier)).size).toBe(1);
  });

  it('starts over after a void code, with another verifier and without earlier proofs', async () => {
    answers = [refused('link_required'), refused('invalid_provider_login')];
    let login = await logIn(withCode);
    for (const proof of [{ password: 'p' }, { secondFactorCode: '123456' }])
      if (!login.ok) login = await login.retry(proof);

    expect(login).toBe(LOGGED_IN);
    expect(started).toHaveLength(2);
    expect(finished.at(-1)).toMatchObject({ secondFactorCode: '123456' });
    expect(finished.at(-1)!.password).toBeUndefined();
    expect(new Set(finished.map(({ codeVerifier }) => codeVerifier)).size).toBe(2);
  });

  it('returns why Accounts did not start it', async () => {
    const start = (): Promise<never> => Promise.resolve(refused('provider_not_found') as never);
    const open = vi.fn<(url: string) => void>();
    const login = await loginAtProvider({ ...client, startProviderLogin: start }, { provider: 'acme', open });
    expect(login).toMatchObject(failedWith('provider_not_found'));
    expect(open).not.toHaveBeenCalled();
  });

  it.each(['file:///etc/passwd', 'javascript:alert(1)', 'ms-msdt:/id', '//login.example.com', ''])(
    'does not open %j',
    async (url) => {
      authorizationUrl = url;
      const open = vi.fn<(url: string) => void>();
      expect(await logIn(open)).toMatchObject(failedWith('invalid_answer'));
      expect(open).not.toHaveBeenCalled();
      await expectClosed();
    },
  );

  it('ends with the signal', async () => {
    const giveUp = new AbortController();
    const login = await logIn(() => giveUp.abort(), { signal: giveUp.signal });
    expect(login).toMatchObject(failedWith('aborted'));
    await expectClosed();
    const { signal } = new AbortController();
    expect(await logIn(withCode, { signal })).toBe(LOGGED_IN);
    expect(signals).toEqual([giveUp.signal, signal, signal]);
  });

  it('ends when Accounts no longer accepts the state', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const waits = logIn(() => undefined);
    await vi.waitUntil(() => vi.getTimerCount() > 0);
    vi.advanceTimersByTime(600_000);
    expect(await waits).toMatchObject(failedWith('timed_out'));
    vi.useRealTimers();
    await expectClosed();
  });

  it('closes if the browser never asks for the page', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    expect(await logIn(() => visit(CALLBACK))).toBe(LOGGED_IN);
    vi.advanceTimersByTime(5_000);
    await expect(visit('/')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('leaves no timer that keeps the program running, once the browser has the page', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    expect(await logIn(() => visit(CALLBACK).then(() => visit('/')))).toBe(LOGGED_IN);
    await vi.waitUntil(() => vi.getTimerCount() === 0);
  });

  it('continues if the browser stays open, and rejects if it cannot be opened', async () => {
    const stays = logIn(() => {
      void withCode();
      return new Promise(() => undefined);
    });
    expect(await stays).toBe(LOGGED_IN);

    for (const open of [() => Promise.reject(new Error('no browser')), (): void => expect.fail('no browser')])
      await expect(logIn(open)).rejects.toThrow('no browser');
    await expectClosed();
  });

  it('listens on ::1 if there is no 127.0.0.1, and says so if there is neither', async () => {
    const listen = Reflect.get(Server.prototype, 'listen') as (...given: unknown[]) => Server;
    const missing = ['127.0.0.1'];
    vi.spyOn(Server.prototype, 'listen').mockImplementation(function (this: Server, ...given: unknown[]) {
      const [port, host] = given;
      return Reflect.apply(listen, this, [port, missing.includes(String(host)) ? '192.0.2.1' : host]);
    });

    expect(await logIn(withCode)).toBe(LOGGED_IN);
    expect(redirectUri()).toMatch(/^http:\/\/\[::1\]:\d+\/callback$/);
    missing.push('::1');
    expect(await logIn(withCode)).toMatchObject(failedWith('no_loopback'));
    expect(started).toHaveLength(1);
  });

  it('rejects an option and a proof that it does not take', async () => {
    const options = { provider: 'acme', open: withCode, redirectUri: 'http://127.0.0.1:1' };
    await expect(loginAtProvider(client, options)).rejects.toThrow(TypeError);
    answers = [refused('link_required')];
    const login = await logIn(withCode);
    const proof = { pasword: 'p' } as object;
    await expect(login.ok || login.retry(proof)).rejects.toThrow('not take "pasword"');
  });
});

describe('a login at a provider by a code to paste', () => {
  it('asks the user for the code while the browser shows it', async () => {
    const opened: string[] = [];
    const paste = (): Promise<string> => Promise.resolve(` ${CODE}\r\n`);
    expect(await logIn((url) => opened.push(url), { paste })).toBe(LOGGED_IN);
    expect(opened).toEqual([AUTHORIZATION_URL]);
    expect(started).toMatchObject([{ name: 'acme', redirectUri: undefined }]);
    expect(finished).toMatchObject([{ code: CODE }]);
  });

  it.each([undefined, '', ' '])('ends if the user enters %j', async (text) => {
    const login = await logIn(() => undefined, { paste: () => text });
    expect(login).toMatchObject(failedWith('aborted'));
    expect(finished).toEqual([]);
  });

  it('ends with the signal while the user is asked', async () => {
    const giveUp = new AbortController();
    const paste = (): Promise<string> => (giveUp.abort(), new Promise(() => undefined));
    const login = await logIn(() => undefined, { paste, signal: giveUp.signal });
    expect(login).toMatchObject(failedWith('aborted'));
  });

  it('rejects with what asking throws', async () => {
    const paste = (): Promise<string> => Promise.reject(new Error('no terminal'));
    await expect(logIn(() => undefined, { paste })).rejects.toThrow('no terminal');
  });
});
