import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createMainClient, type MainClientOptions, safeStorageStore } from '../src/electron/index.ts';
import type { Bridge } from '../src/electron/messages.ts';
import { createPageClient, type PageClient } from '../src/electron/page.ts';
import { type Client, StoreError } from '../src/index.ts';
import { FakeElectron, FakePage } from './support/fake-electron.ts';
import { aSignIn, hangUp, json, OddServer } from './support/odd-server.ts';

const ORIGIN = 'app://accounts';
const LOGIN = { email: 'ada@example.com', password: 'p' };
const ME = json(200, { user: {}, orgs: [] });

type Raw = (name?: unknown, input?: unknown, options?: unknown) => Promise<unknown>;
type Call = (client: PageClient, raw: Raw) => Promise<unknown>;

let directory: string;
let server: OddServer;
let app: FakeElectron;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'accounts-electron-'));
  server = await OddServer.start();
  app = new FakeElectron(directory);
});
afterEach(async () => {
  vi.unstubAllGlobals();
  await server.stop();
  await rm(directory, { recursive: true });
});

function start({ baseUrl = server.url, ...more }: Partial<MainClientOptions> = {}): Promise<Client> {
  const { electron } = app;
  return createMainClient({ electron, baseUrl, origins: [ORIGIN], preload: false, retries: 0, ...more });
}

function clientOf(opened: FakePage): PageClient {
  vi.stubGlobal('accountsClient', opened.accountsClient);
  return createPageClient();
}

/** A sign-in with a refresh token as long as those of Accounts. */
function aLongSignIn() {
  const id = '019a8f3e-6a2d-7f10-8b3c-5d7e9f1a2b3c';
  const signIn = { ...aSignIn(), refreshToken: `${id}.1.${'mac_of-43_characters'.repeat(2)}abc` };
  return { signIn, tokens: [signIn.token, signIn.refreshToken] };
}

function expectNoToken(tokens: string[]): void {
  const sent = JSON.stringify(app.messages);
  expect(app.messages.length).toBeGreaterThan(1);
  for (const token of tokens) expect(sent).not.toContain(token);
}

describe('the main process', () => {
  it('keeps the session, the last user and queued logouts in encrypted files, also for the next start', async () => {
    const { signIn, tokens } = aLongSignIn();
    const store = safeStorageStore(join(directory, 'accounts-session'), app.electron.safeStorage);
    server.answer(json(200, signIn), ME);
    const client = await start();
    expect(await client.login(LOGIN)).toMatchObject({ ok: true, data: signIn });
    await client.getMe({ include: ['roles'] });
    await store.logOuts!.save(aLongSignIn().tokens[1]);

    const names = (await readdir(directory)).filter((name) => !name.includes('.lock'));
    expect(names.toSorted()).toEqual(['accounts-session', 'accounts-session.logouts', 'accounts-session.me']);
    for (const name of names) {
      const text = await readFile(join(directory, name), 'utf8');
      expect(text + Buffer.from(text, 'base64').toString()).not.toMatch(/mac_of|roles|orgs/);
    }
    app = new FakeElectron(directory);
    const { url: baseUrl } = server;
    await server.stop();
    const next = await start({ baseUrl });
    expect(await next.isLoggedIn()).toBe(true);
    const me = await next.getMe({ include: ['roles'] }, { orStale: true });
    expect(me).toMatchObject({ ok: true, data: { orgs: [] }, stale: { problem: { code: 'unreachable' } } });
    expect([await store.load(), await store.logOuts!.load()]).toEqual([tokens[1], tokens[1]]);
  });

  it('queues logouts again after the key of the operating system was lost', async () => {
    await writeFile(join(directory, 'accounts-session.logouts'), 'bm90IGVuY3J5cHRlZA==');
    const client = await start();
    server.answer(json(200, aSignIn()), hangUp);
    await client.login(LOGIN);
    expect(await client.logOut()).toMatchObject({ sessionRevoked: false, queued: true });
  });

  it('keeps the session in memory where nothing can be encrypted', async () => {
    app = new FakeElectron(directory, { canEncrypt: false });
    server.answer(json(200, aSignIn()));
    const client = await start();
    await client.login(LOGIN);
    expect(await client.isLoggedIn()).toBe(true);
    expect(await readdir(directory)).toEqual([]);
  });

  it('waits until the app is ready, because before that nothing can be encrypted', async () => {
    let beReady: (() => void) | undefined;
    const ready = new Promise<void>((done) => (beReady = done));
    app = new FakeElectron(directory, { ready });
    const isAvailable = vi.spyOn(app.electron.safeStorage, 'isAsyncEncryptionAvailable');
    const starting = start();
    await new Promise(setImmediate);
    expect(isAvailable).not.toHaveBeenCalled();
    beReady!();
    expect(await (await starting).isLoggedIn()).toBe(false);
  });

  it.each([
    [{ store: {} }, 'store'],
    [{ storage: 'file' }, 'storage'],
    [{ origins: undefined }, 'origins'],
    [{ origins: ORIGIN }, 'origins'],
    [{ origins: ['app://accounts/'] }, 'origins'],
    [{ origins: ['null'] }, 'origins'],
    [{ origins: ['*'] }, 'origins'],
    [{ origins: ['https://*.example.com'] }, 'origins'],
    [{ origins: ['https://Example.com'] }, 'origins'],
    [{ baseUrl: 'accounts.example.com' }, 'baseUrl'],
  ])('refuses the options %j', async (wrong, named) => {
    await expect(start(wrong as object)).rejects.toThrow(TypeError);
    await expect(start(wrong as object)).rejects.toThrow(named);
    // It left nothing behind.
    expect(await (await start()).isLoggedIn()).toBe(false);
  });

  it('refuses a second client, which would answer no page', async () => {
    await start();
    await expect(start()).rejects.toThrow(TypeError);
  });
});

describe('a page', () => {
  it('calls by the client of the main process, and no message holds a token', async () => {
    const { signIn, tokens } = aLongSignIn();
    const renewed = { ...aLongSignIn().signIn, refreshToken: signIn.refreshToken.replace('.1.', '.2.') };
    const main = await start();
    const client = clientOf(new FakePage(app, ORIGIN));

    server.answer(json(200, signIn), ME, json(200, { code: 'c', audience: 'billing', expiresAt: 'soon' }));
    const login = await client.login(LOGIN, { timeoutMs: 2_000 });
    expect(login).toMatchObject({ ok: true, status: 200, data: { user: signIn.user } });
    expect(login.ok && Object.keys(login.data)).toEqual(['user']);
    expect(await client.getMe()).toMatchObject({ ok: true, data: { orgs: [] } });
    expect(server.asked[1]!.headers.authorization).toBe(`Bearer ${signIn.token}`);
    const input = { audience: 'billing', codeChallenge: 'c', codeChallengeMethod: 'S256' } as const;
    expect(await client.issueCode(input)).toMatchObject({ data: { code: 'c', expiresAt: 'soon' } });
    expect([await client.isLoggedIn(), await main.isLoggedIn()]).toEqual([true, true]);

    server.answer(json(200, renewed));
    await main.refresh();
    server.answer(json(200, { ok: true }));
    expect(await client.logOut()).toMatchObject({ ok: true, sessionRevoked: true });
    expect(JSON.parse(server.asked[0]!.body)).toEqual({ refreshToken: renewed.refreshToken });
    expect(await main.isLoggedIn()).toBe(false);
    expectNoToken([...tokens, renewed.token, renewed.refreshToken]);
  });

  it('gets causes as texts, without the tokens that an error or another server quotes', async () => {
    const { signIn, tokens } = aLongSignIn();
    let quote = (body: string): Promise<Response> => Promise.resolve(new Response(body));
    const quoting: typeof fetch = (_url, { headers, body } = {}) => quote(JSON.stringify([headers, body]));
    await start({ fetch: quoting });
    const client = clientOf(new FakePage(app, ORIGIN));
    const headers = { 'Content-Type': 'application/json' };
    quote = () => Promise.resolve(new Response(JSON.stringify(signIn), { headers }));
    await client.login(LOGIN);

    quote = (body) =>
      Promise.reject(new Error(`no answer to ${body}`, { cause: codeOf('ECONNREFUSED', body) }));
    const unreachable = await client.getMe();
    expect(unreachable).toMatchObject({ problem: { code: 'unreachable', status: null } });
    expect(!unreachable.ok && 'cause' in unreachable.problem && unreachable.problem.cause).toMatch(
      /^Error: no answer to \[.*Bearer ….*\]: Error: refused \[.*\] \(ECONNREFUSED\)$/,
    );
    quote = (body) => Promise.resolve(new Response(`<html>${body}`));
    expect(await client.getMe()).toMatchObject({
      problem: { code: 'not_json', text: expect.stringContaining('<html>') as string },
    });
    quote = () => Promise.resolve(new Response(JSON.stringify({ user: {}, orgs: [] }), { headers }));
    await client.getMe({ include: ['roles'] });
    quote = (body) => Promise.reject(new Error(body));
    const stale = await client.getMe({}, { orStale: true });
    expect(stale).toMatchObject({
      stale: { problem: { cause: expect.stringMatching(/^Error: \[/) as string } },
    });
    quote = () => Promise.resolve(new Response(JSON.stringify(signIn)));
    expect(await client.login(LOGIN)).toMatchObject({ problem: { code: 'not_json' } });
    expectNoToken(tokens);
  });

  it.each<[string, Call]>([
    ['an operation that only the main process may call', (_, raw) => raw('refresh')],
    ['an operation of operators', (_, raw) => raw('adminGetUser', { userId: 'u' })],
    ['an operation of services', (_, raw) => raw('exchangeCode', { code: 'c', codeVerifier: 'v' })],
    ['an operation of nobody', (_, raw) => raw('getEverything')],
    ['a member of every object', (_, raw) => raw('constructor')],
    ['the prototype', (_, raw) => raw('__proto__')],
    ['no name', (_, raw) => raw(undefined)],
    ['a name that is no text', (_, raw) => raw({ name: 'getMe' })],
    ['a number without end', (_, raw) => raw(7n)],
    ['an unknown member', (client) => client.createOrg({ name: 'Looms', dryRun: true } as never)],
    [
      'an unknown member of the name of a prototype',
      (_, raw) => raw('createOrg', JSON.parse('{"__proto__":1}')),
    ],
    ['no input', (_, raw) => raw('createOrg', null)],
    ['a missing id', (client) => client.getOrg({} as never)],
    ['an input that contains itself', (_, raw) => raw('createOrg', { name: itself() })],
    ['a function', (client) => client.createOrg({ name: () => 'Looms' } as never)],
    ['an unknown option', (client) => client.getMe({}, { timeout: 1 } as never)],
    ['a signal', (client) => client.getMe({}, { signal: new AbortController().signal } as never)],
    ['a signal that was made up', (_, raw) => raw('getMe', {}, { signal: { aborted: true } })],
    ['a session to end', (client) => client.logOut({ refreshToken: 'r' } as never)],
  ])('is refused with %s, and the main process sends nothing', async (_, call) => {
    server.answer(ME);
    const main = await start();
    server.answer(json(200, aSignIn()), ME);
    await main.login(LOGIN);
    server.asked.length = 0;
    const opened = new FakePage(app, ORIGIN);
    const bridge = opened.accountsClient as Bridge;
    const raw: Raw = async (name, input, options) => {
      const answer = await bridge.call(name as string, input, options);
      if ('result' in answer) return answer.result;
      throw new { TypeError, StoreError: Error }[answer.failed](answer.message);
    };
    await expect(call(clientOf(opened), raw)).rejects.toThrow(TypeError);
    expect(server.asked).toEqual([]);
    expect(await main.isLoggedIn()).toBe(true);
  });

  it.each<[string, () => FakePage]>([
    ['another origin', () => new FakePage(app, 'https://evil.example')],
    ['an origin that begins alike', () => new FakePage(app, `${ORIGIN}.evil.example`)],
    ['no origin, as of a file or a sandboxed frame', () => new FakePage(app, 'null')],
    ['a subframe of an admitted page', () => aSubframe()],
    [
      'an admitted page that its window has left since',
      () => {
        const left = new FakePage(app, ORIGIN);
        expect(new FakePage(app, 'https://evil.example', { contents: left.contents }).isGone).toBe(false);
        return left;
      },
    ],
    [
      'a page of a window that was closed since',
      () => {
        const closed = new FakePage(app, ORIGIN);
        closed.contents.destroy();
        return closed;
      },
    ],
  ])('is refused from %s', async (_, open) => {
    await start();
    await expect(clientOf(open()).login(LOGIN)).rejects.toThrow(
      new TypeError('createMainClient does not admit this page'),
    );
    await expect(clientOf(open()).isLoggedIn()).rejects.toThrow(TypeError);
    expect(server.asked).toEqual([]);
  });

  it('is refused where no origin is admitted', async () => {
    await start({ origins: [] });
    await expect(clientOf(new FakePage(app, ORIGIN)).getMe()).rejects.toThrow(TypeError);
  });

  it('says what is missing: the preload script, or the main process', async () => {
    expect(() => createPageClient()).toThrow(TypeError);
    await expect(clientOf(new FakePage(app, ORIGIN)).getMe()).rejects.toThrow(
      /^getMe did not reach .*createMainClient/,
    );
  });

  it('rejects with a StoreError where the session cannot be decrypted', async () => {
    await writeFile(join(directory, 'accounts-session'), 'bm90IGVuY3J5cHRlZA==');
    await start();
    const client = clientOf(new FakePage(app, ORIGIN));
    const failure: unknown = await client.isLoggedIn().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StoreError);
    expect(failure).toMatchObject({
      code: 'store_failed',
      cause: 'Error: Error while decrypting the ciphertext',
    });
    const me = await client.getMe();
    expect(me).toMatchObject({ problem: { code: 'store_failed', cause: expect.any(String) as string } });
    server.answer(json(200, aSignIn()));
    expect(await client.login(LOGIN)).toMatchObject({ ok: true });
    expect(await client.isLoggedIn()).toBe(true);
  });

  it('hears of each login and logout, whichever page or process made it', async () => {
    const main = await start();
    const [first, second] = [new FakePage(app, ORIGIN), new FakePage(app, ORIGIN)];
    const client = clientOf(first);
    const heard: unknown[] = [];
    client.onSessionChange(() => {
      throw new Error('in a page');
    });
    const stop = client.onSessionChange((change) => heard.push(change));
    expect(() => client.onSessionChange('no function' as never)).toThrow(TypeError);

    const { signIn, tokens } = aLongSignIn();
    server.answer(json(200, signIn), json(200, { ok: true }));
    await clientOf(second).login(LOGIN);
    expect(heard).toEqual([{ event: 'logged_in' }]);
    await main.logOut();
    expect(heard.slice(1)).toEqual([{ event: 'logged_out', reason: 'log_out' }]);
    stop();
    server.answer(json(200, signIn));
    await main.login(LOGIN);
    expect(heard).toHaveLength(2);
    expectNoToken(tokens);
  });

  it('hears nothing once another page is in its window, and closed windows keep nothing from the others', async () => {
    const main = await start();
    const heard: string[] = [];
    const listenIn = (opened: FakePage, name: string): void =>
      void clientOf(opened).onSessionChange(() => heard.push(name));
    const pages = [1, 2, 3, 4].map(() => new FakePage(app, ORIGIN));
    const [left, closed, reloaded, open] = pages as [FakePage, FakePage, FakePage, FakePage];
    for (const [index, opened] of pages.entries()) listenIn(opened, `page ${index}`);
    const stranger = new FakePage(app, 'https://evil.example');
    listenIn(stranger, 'a stranger');
    listenIn(aSubframe(), 'a subframe');
    await new Promise(setImmediate);

    const after = new FakePage(app, 'https://evil.example', { contents: left.contents });
    (after.accountsClient as Bridge).listen(() => heard.push('after'));
    const disposed = vi.spyOn(closed.contents, 'mainFrame', 'get');
    disposed.mockImplementation(() => {
      throw new Error('Render frame was disposed before WebFrameMain could be accessed');
    });
    listenIn(new FakePage(app, ORIGIN, { contents: reloaded.contents }), 'the page again');
    await new Promise(setImmediate);
    const { contents } = open;
    server.answer(json(200, aSignIn()));
    await main.login(LOGIN);
    expect(heard.toSorted()).toEqual(['page 3', 'the page again']);
    expect(reloaded.contents.listenerCount('destroyed')).toBe(1);

    contents.destroy();
    const read = vi.spyOn(contents, 'mainFrame', 'get');
    server.answer(json(200, { ok: true }));
    expect(await main.logOut()).toMatchObject({ ok: true });
    expect(heard).toEqual(expect.arrayContaining(['the page again']));
    expect(heard).toHaveLength(3);
    expect(read).not.toHaveBeenCalled();
  });
});

function codeOf(code: string, quoted: string): Error {
  const error = new Error(`refused ${quoted}`);
  error.cause = error;
  return Object.assign(new Error(`refused ${quoted}`), { code });
}

function aSubframe(): FakePage {
  const { frame: parent, contents } = new FakePage(app, ORIGIN);
  return new FakePage(app, ORIGIN, { contents, parent });
}

function itself(): unknown {
  const list: unknown[] = [];
  return (list[0] = list);
}
