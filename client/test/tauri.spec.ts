import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createClient, type TokenStore } from '../src/index.ts';
import { keyringStore } from '../src/tauri.ts';
import { aSignIn, json, OddServer } from './support/odd-server.ts';

let keyring: Map<string, string>;
let local: Map<string, string>;
let locked: string[];

/** The commands of docs/clients-store.md, over a keyring that is a map. */
async function invoke(command: string, { name, value }: Record<string, unknown>): Promise<unknown> {
  await Promise.resolve();
  if (command === 'accounts_load') return keyring.get(String(name)) ?? null;
  if (command !== 'accounts_save') throw `Command ${command} not found`;
  if (typeof value === 'string') keyring.set(String(name), value);
  else if (value === null) keyring.delete(String(name));
  else throw 'invalid args `value` for command `accounts_save`';
  return null;
}

beforeEach(() => {
  [keyring, local, locked] = [new Map(), new Map(), []];
  vi.stubGlobal('localStorage', {
    getItem: (name: string) => local.get(name) ?? null,
    setItem: (name: string, value: string) => local.set(name, value),
    removeItem: (name: string) => local.delete(name),
  });
  vi.stubGlobal('navigator', {
    locks: {
      request: (name: string, work: () => Promise<unknown>) => {
        locked.push(name);
        return work();
      },
    },
  });
});
afterEach(() => vi.unstubAllGlobals());

it('keeps the session and the queued logouts in the keyring, and the last user in the web view', async () => {
  const store = keyringStore({ invoke });
  for (const [slot, text] of slotsOf(store)) {
    expect(await slot.load()).toBeFalsy();
    await slot.save(text);
  }
  expect([...keyring]).toEqual([
    ['accounts', 'token'],
    ['accounts.logouts', 'logouts'],
  ]);
  expect([...local]).toEqual([['accounts.me', 'me']]);
  for (const [slot, text] of slotsOf(keyringStore({ invoke, name: 'accounts' }))) {
    expect(await slot.load()).toBe(text);
    await slot.save(undefined);
    expect(await slot.load()).toBeFalsy();
  }
  expect([keyring.size, local.size]).toEqual([0, 0]);
});

it('keeps two sessions of one program apart by their names, also their locks', async () => {
  const [work, home] = [keyringStore({ invoke, name: 'work' }), keyringStore({ invoke, name: 'home' })];
  for (const [slot, text] of slotsOf(work)) await slot.save(text);
  for (const [slot] of slotsOf(home)) expect(await slot.load()).toBeFalsy();
  expect(await work.lock!(() => home.lock!(() => Promise.resolve('done')))).toBe('done');
  expect(new Set(locked).size).toBe(2);
});

it('is a store of a client: a keyring that is locked is a problem, and no logout', async () => {
  const server = await OddServer.start();
  server.answer(json(200, aSignIn()));
  let isLocked = false;
  const store = keyringStore({
    invoke: (command, given) => (isLocked ? Promise.reject(new Error('locked')) : invoke(command, given)),
  });
  const client = createClient({ baseUrl: server.url, store });
  expect(await client.login({ email: 'ada@example.com', password: 'p' })).toMatchObject({ ok: true });
  expect(locked.length).toBeGreaterThan(0);
  isLocked = true;
  await expect(client.isLoggedIn()).rejects.toMatchObject({ code: 'store_failed' });
  isLocked = false;
  expect(await client.isLoggedIn()).toBe(true);
  await server.stop();
});

function slotsOf(store: TokenStore) {
  return [
    [store, 'token'],
    [store.logOuts!, 'logouts'],
    [store.me!, 'me'],
  ] as const;
}
