import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Client, createClient, memoryStore } from '../../client/src/index.ts';
import { loginAtProvider, type ProviderLoginOptions } from '../../client/src/loopback.ts';
import { type AddedProvider, addProvider, browserOf, ISSUER } from '../support/at-providers.js';
import { type Account, anAccountOf } from '../support/personas.js';
import { TestProvider } from '../support/provider.js';
import { protect } from '../support/second-factor.js';
import { type Instance, startOwnService } from '../support/service.js';

const CODE_TO_PASTE = /^[\w-]{43}$/m;

let acme: AddedProvider;
let service: Instance;

beforeAll(async () => {
  service = await startOwnService({ env: { JWT_ISSUER: ISSUER, CROSS_DEVICE_LOGIN: 'anywhere' } });
  const settings = { name: 'acme', domains: ['acme.example'], createUsers: true };
  acme = await addProvider(service, await TestProvider.start(), settings);
});
afterAll(async () => {
  await service.stop();
  acme.provider.stop();
});

const aClient = (): Client => createClient({ baseUrl: service.url, store: memoryStore() });
const userAt = (name: string): string =>
  acme.provider.addUser(name, { email: `${name}@acme.example`, email_verified: true });
const aUser = (name: string): Promise<Account> => anAccountOf(service, `${name}@acme.example`);

/** The browser of a user at the provider, which comes back to the program. @returns what it shows */
async function browse(url: string, sub?: string): Promise<string> {
  const visit = await browserOf(service, acme, sub).visit(url);
  return (visit.response ?? (await fetch(visit.url))).text();
}

function logIn(client: Client, sub?: string, more: Partial<ProviderLoginOptions> = {}) {
  return loginAtProvider(client, { provider: 'acme', open: (url) => browse(url, sub), ...more });
}

describe('loginAtProvider', () => {
  it('logs a new user in, and keeps the session in the store', async () => {
    const client = aClient();
    const login = await logIn(client, userAt('ada'), { deviceName: "Ada's laptop" });

    expect(login).toMatchObject({
      ok: true,
      data: { user: { email: 'ada@acme.example' } },
    });
    expect(await client.refresh()).toMatchObject({ ok: true });
    expect(await client.listSessions({ include: ['login'] })).toMatchObject({
      data: { sessions: [{ deviceName: "Ada's laptop", login: { by: 'provider', provider: 'acme' } }] },
    });
    const again = await logIn(aClient(), 'ada');
    expect(again).toMatchObject({ ok: true, data: { user: login.ok && login.data.user } });
  });

  it('links a user who enters the password, with one visit of the browser', async () => {
    const grace = await aUser('grace');
    let visits = 0;
    const open = (url: string): Promise<string> => ((visits += 1), browse(url, userAt('grace')));
    let login = await logIn(aClient(), undefined, { open });
    const codes: unknown[] = [];
    for (const password of ['the wrong one', grace.password]) {
      if (login.ok) break;
      codes.push(login.problem.code);
      login = await login.retry({ password });
    }

    expect(codes).toEqual(['link_required', 'wrong_password']);
    expect(login).toMatchObject({ ok: true, data: { user: { id: grace.id } } });
    expect(visits).toBe(1);
    expect(await logIn(aClient(), 'grace')).toMatchObject({ ok: true, data: { user: { id: grace.id } } });
  });

  it('sends the password again with the code of the second factor', async () => {
    const { account, app } = await protect(service, await aUser('hedy'));
    let login = await logIn(aClient(), userAt('hedy'));
    const proofs = [{ password: account.password }, { secondFactorCode: app.wrong() }];
    const codes: unknown[] = [];
    for (const proof of [...proofs, { secondFactorCode: app.next() }]) {
      if (login.ok) break;
      codes.push(login.problem.code);
      login = await login.retry(proof);
    }

    expect(codes).toEqual(['link_required', 'second_factor_code_required', 'invalid_second_factor_code']);
    expect(login).toMatchObject({ ok: true, data: { user: { id: account.id } } });
  });

  it('returns what the user refused, and starts over', async () => {
    const subs = [undefined, userAt('joan')];
    const login = await logIn(aClient(), undefined, { open: (url) => browse(url, subs.shift()) });
    expect(login).toMatchObject({ ok: false, problem: { code: 'provider_denied', status: null } });
    expect(!login.ok && (await login.retry())).toMatchObject({ ok: true });
  });

  it('takes the code that the browser shows, and starts over after a wrong one', async () => {
    const shown: string[] = [];
    const open = async (url: string): Promise<void> => void shown.push(await browse(url, userAt('mary')));
    const typed = [() => 'x'.repeat(43), (): string => CODE_TO_PASTE.exec(shown.at(-1)!)![0]];
    const paste = async (): Promise<string> => {
      const visits = 3 - typed.length;
      await expect.poll(() => shown.length).toBe(visits);
      return typed.shift()!();
    };
    const login = await logIn(aClient(), undefined, { open, paste });
    expect(login).toMatchObject({ ok: false, problem: { code: 'invalid_provider_login', status: 400 } });
    expect(!login.ok && (await login.retry())).toMatchObject({ ok: true });
  });

  it('returns why a login cannot start', async () => {
    const unknown = await logIn(aClient(), 'ada', { provider: 'other' });
    expect(unknown).toMatchObject({ ok: false, problem: { code: 'provider_not_found', status: 404 } });
  });
});
