import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient, memoryStore } from '../../client/src/index.ts';
import { loginAtProvider, type ProviderLoginOptions } from '../../client/src/loopback.ts';
import { freePort } from '../../client/src/free-port.ts';
import { addProvider } from '../support/at-providers.js';
import { TestProvider } from '../support/provider.js';
import { type Instance, startOwnService } from '../support/service.js';
import { Chromium } from './support/chromium.js';

const SUBJECT = 'ada';

let provider: TestProvider;
let service: Instance;
let browser: Chromium;

beforeAll(async () => {
  provider = await TestProvider.start();
  provider.addUser(SUBJECT, { email: 'ada@acme.example', email_verified: true });
  const port = await freePort();
  const JWT_ISSUER = `http://127.0.0.1:${port}`;
  service = await startOwnService({
    env: { PORT: String(port), JWT_ISSUER, CROSS_DEVICE_LOGIN: 'anywhere' },
  });
  await addProvider(service, provider, { name: 'acme', domains: ['acme.example'], createUsers: true });
  browser = await Chromium.start();
});
afterAll(async () => {
  await browser.stopAndFind([]);
  await service.stop();
  provider.stop();
});

/** A login in a page of its own. @param sub of the user at the provider; without it, the user refuses */
async function logIn(sub: string, more: Partial<ProviderLoginOptions> = {}) {
  const page = await browser.page({ 'x-user': sub });
  // The provider would remember another user.
  await page.context().clearCookies();
  const visited: string[] = [];
  page.on('request', (request) => visited.push(request.url()));
  const client = createClient({ baseUrl: service.url, store: memoryStore() });
  const open = (url: string): Promise<unknown> => page.goto(url);
  const login = await loginAtProvider(client, { provider: 'acme', open, ...more });
  return { login, page, visited };
}

async function historyOf(page: Page): Promise<string[]> {
  const devTools = await page.context().newCDPSession(page);
  const { entries } = await devTools.send('Page.getNavigationHistory');
  return entries.map(({ url }) => url);
}

describe('a login at a provider in Chromium', () => {
  it('goes by the provider and Accounts to the program, and ends on a page without a code', async () => {
    const { login, page, visited } = await logIn(SUBJECT);
    expect(login).toMatchObject({ ok: true, data: { user: { email: 'ada@acme.example' } } });
    await page.getByText('You can close this page and return to the program.').waitFor();

    const program = new URL(page.url());
    expect([program.hostname, program.pathname, program.search]).toEqual(['127.0.0.1', '/', '']);
    expect(await historyOf(page)).toEqual(['about:blank', program.href]);
    const callbacks = visited
      .map((url) => new URL(url))
      .filter(({ pathname }) => pathname.endsWith('/callback'));
    expect(callbacks.map(({ origin }) => origin)).toEqual([service.url, program.origin]);
    expect([...callbacks[1]!.searchParams.keys()].toSorted()).toEqual(['code', 'state']);
    expect(await page.evaluate<string>('document.referrer')).toBe('');
  });

  it('shows nothing that comes from the provider, and reports the refusal to the program', async () => {
    const { login, page } = await logIn('');
    expect(login).toMatchObject({ problem: { code: 'provider_denied' } });
    await page.getByText('You can close this page').waitFor();
    expect(await page.content()).not.toContain('alert');
    expect((await historyOf(page)).at(-1)).toBe(`${new URL(page.url()).origin}/`);
  });

  it('shows a code to paste as text', async () => {
    let shown: string | undefined;
    const page = await browser.page({ 'x-user': SUBJECT });
    const open = async (url: string): Promise<void> => {
      const response = await page.goto(url);
      expect(response!.headers()).toMatchObject({
        'content-type': expect.stringContaining('text/plain') as string,
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
      });
      shown = await page.locator('body').innerText();
    };
    const paste = async (): Promise<string> => {
      await expect
        .poll(() => shown)
        .toContain('Enter it only into a program that you have just started yourself');
      return /^[\w-]{43}$/m.exec(shown!)![0];
    };
    const client = createClient({ baseUrl: service.url, store: memoryStore() });
    expect(await loginAtProvider(client, { provider: 'acme', open, paste })).toMatchObject({ ok: true });
  });
});
