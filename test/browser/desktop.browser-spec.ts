import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createClient, memoryStore, unwrap } from '../../client/src/index.ts';
import { openEngineRoom, type RunningService } from '../../examples/handoff/service.ts';
import { addProvider } from '../support/at-providers.js';
import { startMailing } from '../support/mailing.js';
import { TestProvider } from '../support/provider.js';
import { AuthenticatorApp } from '../support/second-factor.js';
import { aServiceClient } from '../support/services.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { isCurrent, withSources } from '../../tooling/png-sources.js';
import { freePort } from '../../client/src/free-port.ts';
import { Chromium } from './support/chromium.js';

const EXAMPLE = resolve('examples/desktop');
const PROGRAM = join(EXAMPLE, 'build/main/main.js');
/** `SCREENSHOTS=/tmp/desktop` keeps a picture of each screen, in a file with its name. */
const { SCREENSHOTS } = process.env;
/** The screens that pages show, whose pictures are taken again when the page of the program has changed. */
const PICTURES = new Set(['log-in', 'offline', 'organization', 'second-step']);
const LARGEST_BYTES = 60_000;

const ada = { name: 'Ada Lovelace', email: 'ada@example.com', password: 'a correct horse battery' };
const grace = { name: 'Grace Hopper', email: 'grace@example.com', password: 'a nanosecond of wire' };

const port = await freePort();
const issuer = `http://127.0.0.1:${port}`;
const { service, mailServer } = await startMailing({ PORT: String(port), JWT_ISSUER: issuer });
let provider: TestProvider;
let chromium: Chromium;
let engineRoom: RunningService;
let userData: string;
let page: Page;
let electron: typeof import('./support/electron.js');
/** who logs in at the provider, in the user's browser */
let visitor = '';

beforeAll(async () => {
  // Electron brings the types that this build would check.
  execFileSync('npx', ['tsc', '--project', 'tsconfig.build.json', '--noCheck'], { cwd: EXAMPLE });
  chromium = await Chromium.start();
  provider = await TestProvider.start();
  provider.addUser('hedy', { email: 'hedy@acme.example', email_verified: true, name: 'Hedy Lamarr' });
  provider.addUser('ada', { email: ada.email, email_verified: true });
  await addProvider(service, provider, {
    name: 'acme',
    domains: ['acme.example', 'example.com'],
    createUsers: true,
  });
  await service.db.query("UPDATE providers SET title = 'Acme'");
  const { secret } = await aServiceClient(service.db, ['introspect', 'memberships', 'events'], 'engine-room');
  engineRoom = await openEngineRoom(service.url, 'http://127.0.0.1:1', { name: 'engine-room', secret });
  userData = await mkdtemp(join(tmpdir(), 'accounts-desktop-'));
  if (SCREENSHOTS !== undefined) mkdirSync(SCREENSHOTS, { recursive: true });
  await start();
});
afterAll(async () => {
  await engineRoom.close();
  await chromium.stopAndFind([]);
  provider.stop();
  await rm(userData, { recursive: true });
});

/** Starts the program, as a user does who closed it before. */
async function start(accounts = service.url): Promise<void> {
  await page?.close();
  vi.resetModules();
  Object.assign(process.env, { ACCOUNTS_URL: accounts, ENGINE_ROOM_URL: engineRoom.url });
  electron = await import('./support/electron.js');
  electron.stand.surroundings = { chromium, userData, openExternal };
  await import(PROGRAM);
  page = await electron.stand.page.promise;
  await page.setViewportSize({ width: 960, height: 680 });
  page.on('dialog', (dialog) => void dialog.accept());
}

async function openExternal(url: string): Promise<void> {
  const browser = await chromium.page({ 'x-user': visitor });
  await browser.context().clearCookies();
  await browser.goto(url);
  await browser.close();
}

const button = (name: string | RegExp): Locator => page.getByRole('button', { name, exact: true });
const field = (name: string | RegExp): Locator => page.getByLabel(name).filter({ visible: true });
const alert = (): Promise<string> => page.getByRole('alert').innerText();

/** Waits for a screen, which is then photographed. */
async function expectScreen(title: string, picture?: string): Promise<void> {
  await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor();
  if (picture !== undefined) await photograph(picture);
}

async function photograph(name: string): Promise<void> {
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    if (SCREENSHOTS !== undefined)
      await page.screenshot({ path: join(SCREENSHOTS, `desktop-${name}-${colorScheme}.png`) });
  }
  const picture = `docs/pictures/desktop-${name}.png`;
  if (!PICTURES.has(name) || (existsSync(picture) && isCurrent(readFileSync(picture)) === true)) return;
  const png = await page.screenshot();
  expect(png.length).toBeLessThan(LARGEST_BYTES);
  writeFileSync(picture, withSources(png, ['examples/desktop/page/*']));
}

/** Fills in the fields by their labels, and presses Enter. */
async function submit(values: Record<string, string>): Promise<void> {
  for (const [label, value] of Object.entries(values)) await field(label).fill(value);
  await field(Object.keys(values).at(-1)!).press('Enter');
}

async function logIn({ email, password }: { email: string; password: string }): Promise<void> {
  await expectScreen('Log in');
  await submit({ Email: email, Password: password });
}

const credentialsOf = ({ email, password }: typeof ada) => ({ email, password });

async function logOut(): Promise<void> {
  await button('Log out').click();
  await expectScreen('Log in');
}

async function codeTo(email: string, subject: string, nth = 1): Promise<string> {
  const found = () => mailServer.to(email).filter((mail) => mail.subject.includes(subject));
  await waitFor(`an email with the subject ${subject}`, hangTimeoutMs(), () => found().length >= nth);
  return found().at(-1)!.code!;
}

describe('the desktop program', { timeout: 600_000 }, () => {
  it('refuses a wrong password, and registers a user who verifies the email', async () => {
    await logIn(ada);
    await page.getByText('The email or the password is wrong.').waitFor();
    await photograph('log-in');
    await button('Register').click();
    await expectScreen('Register');
    await submit({ Name: ada.name, 'New password': 'short', Email: ada.email });
    await page.getByText('Please correct this').waitFor();
    expect(await field('New password').getAttribute('aria-invalid')).toBe('true');
    expect(await page.locator(':focus').getAttribute('name')).toBe('newPassword');
    await photograph('register');
    await submit({ 'New password': ada.password });

    await expectScreen('Verify your email', 'verify');
    await button('Send the code').click();
    await submit({ 'The code in the email': await codeTo(ada.email, 'confirm this email') });
    await expectScreen('Organizations');
    expect(await page.locator('#user').innerText()).toBe(ada.name);
    await page.getByText('You are in no organization.').waitFor();
  });

  it('stays logged in over a restart, and starts without the network', async () => {
    await submit({ 'New organization': 'Analytical Engines' });
    await expectScreen('Analytical Engines');
    await start();
    await expectScreen('Organizations');
    await button('Analytical Engines').waitFor();

    await start('http://127.0.0.1:1');
    await expectScreen('Organizations');
    await page.getByText('Offline, as of').waitFor();
    await photograph('offline');
    await button('Analytical Engines').click();
    await expectScreen('That did not work', 'failed');
    await page.getByText('Accounts cannot be reached. Are you online?').waitFor();
    await start();
  });

  it('invites, and joins by a link, without a decision of the link', async () => {
    await button('Analytical Engines').click();
    await expectScreen('Analytical Engines');
    await submit({ Email: grace.email });
    await page.getByText(`${grace.email} was invited.`).waitFor();
    const first = await codeTo(grace.email, 'You are invited');
    await submit({ Email: grace.email });
    await button('Send the invitation again').click();
    await page.getByText('The invitation was sent again.').waitFor();
    await photograph('invite');
    const code = await codeTo(grace.email, 'You are invited', 2);
    expect(code).not.toBe(first);
    await logOut();

    electron.app.emit('second-instance', {}, ['electron', '.', 'engine-room://invitation/..%2f..']);
    electron.app.emit('second-instance', {}, ['electron', '.', `engine-room://invitation/${code}`]);
    await expectScreen('Register', 'invited');
    expect(await field('Invitation code').inputValue()).toBe(code);
    await submit({ Name: grace.name, Email: grace.email, 'New password': grace.password });
    await expectScreen('Organizations');
    await button('Analytical Engines').click();
    await page.getByText('You are member here.').waitFor();
  });

  it('hands the login to the engine room, whose token stays in the main process', async () => {
    await button('Enter').click();
    await page.getByText(`The engine room admits ${grace.email} as member.`).waitFor();
    await button('Enter').click();
    expect(await page.getByRole('status').last().innerText()).toContain('admits');
    const answers = electron.stand.answers.join('\n');
    expect(answers).toContain(grace.email);
    expect(answers).not.toMatch(/eyJ|refreshToken|"token"/);
    await logOut();
  });

  it('changes roles, and suggests what an owner can do who is the last one', async () => {
    await logIn(ada);
    await button('Analytical Engines').click();
    await expectScreen('Analytical Engines');
    await field(`Role of ${ada.name}`).selectOption('member');
    await page.getByText('An organization needs an owner.').waitFor();
    await photograph('organization');
    expect(await field(`Role of ${ada.name}`).inputValue()).toBe('owner');
    await button(`Make ${grace.email} an owner`).click();
    await page.getByText('You are member here.').waitFor();
    await logOut();
  });

  it('turns on two-factor authentication, requires it of all members, and logs in with it', async () => {
    await logIn(grace);
    await button('Analytical Engines').click();
    await field('Required of all members from').fill('2099-01-01');
    await button('Require').click();
    await button('Turn on two-factor authentication').click();
    await expectScreen('Security');
    await submit({ Password: 'the wrong one' });
    expect(await alert()).toBe('The password is wrong.');
    await submit({ Password: grace.password });
    await page.getByRole('img', { name: 'QR code of the secret' }).waitFor();
    const app = new AuthenticatorApp(await page.locator('[data-part=secret]').innerText());
    await photograph('enroll');
    await submit({ 'The six digits in your app': app.next() });
    await button('I have kept them').waitFor();
    await photograph('recovery-codes');
    const codes = (await page.locator('pre').innerText()).split('\n');
    expect(codes).toHaveLength(10);
    await button('I have kept them').click();
    await page.getByText('On. 10 recovery codes are left.').waitFor();

    await button('Organizations').click();
    await button('Analytical Engines').click();
    await field('Required of all members from').fill('2099-01-01');
    await button('Require').click();
    await page.getByText('Required from').waitFor();
    await photograph('required');
    await logOut();

    await logIn(grace);
    await expectScreen('Two-factor authentication');
    await submit({ 'The six digits in your app': app.wrong() });
    await page.getByText('This code is wrong.').waitFor();
    await photograph('second-step');
    await submit({ 'The six digits in your app': codes[0]! });
    await expectScreen('Organizations', 'organizations');
  });

  it('lists devices and ends one, and shows the login after this one has ended elsewhere', async () => {
    await logOut();
    await logIn(ada);
    await expectScreen('Organizations');
    const phone = createClient({ baseUrl: service.url, store: memoryStore() });
    unwrap(await phone.login({ ...credentialsOf(ada), deviceName: "Ada's phone" }));
    await button('Security').click();
    await expectScreen('Security', 'security');
    await page.getByText('This device').waitFor();
    await button("Log out Ada's phone").click();
    await page.getByText("Ada's phone").waitFor({ state: 'detached' });
    expect(await phone.getMe()).toMatchObject({ ok: false, problem: { code: 'invalid_refresh_token' } });

    unwrap(await phone.login(credentialsOf(ada)));
    unwrap(await phone.revokeSessions());
    await button('Profile').click();
    await expectScreen('Log in');
    await page.getByText('Your session has ended.').waitFor();
  });

  it('changes the profile, unless it was changed elsewhere', async () => {
    await logIn(ada);
    await button('Profile').click();
    await expectScreen('Profile', 'profile');
    const phone = createClient({ baseUrl: service.url, store: memoryStore() });
    unwrap(await phone.login(credentialsOf(ada)));
    unwrap(await phone.updateProfile({ locale: 'en-GB' }));
    await submit({ Name: 'Countess of Lovelace' });
    await page.getByText('This was changed elsewhere.').waitFor();
    await button('Profile').click();
    await page.getByText('This was changed elsewhere.').waitFor({ state: 'detached' });
    await submit({ Name: 'Countess of Lovelace' });
    await page.getByText('The profile was saved.').waitFor();
    expect(await page.locator('#user').innerText()).toBe('Countess of Lovelace');
    await logOut();
  });

  it('resets the password', async () => {
    await button('Forgot the password?').click();
    await expectScreen('Reset the password');
    await submit({ Email: ada.email });
    const code = await codeTo(ada.email, 'password reset code');
    ada.password = 'the engine weaves patterns';
    await submit({ 'The code in the email': code, 'New password': ada.password });
    await expectScreen('Log in');
    await page.getByText('The password was changed.').waitFor();
  });

  it('logs in at a company, and connects the user who has the email', async () => {
    visitor = 'hedy';
    await button('Log in with Acme').click();
    await expectScreen('Organizations');
    expect(await page.locator('#user').innerText()).toBe('Hedy Lamarr');
    await logOut();

    visitor = 'ada';
    await button('Log in with Acme').click();
    await expectScreen('Log in with your company');
    await field('Password').waitFor();
    await photograph('company');
    await submit({ Password: 'the wrong one' });
    expect(await alert()).toBe('The password is wrong.');
    await submit({ Password: ada.password });
    await expectScreen('Organizations');
  });

  it('accepts and declines invitations of a user who is logged in', async () => {
    electron.app.emit('open-url', {}, 'engine-room://invitation/00000-00000');
    await expectScreen('Invitations', 'invitations');
    await field('Invitation code').press('Enter');
    await page.getByText('This code is wrong').waitFor();
  });

  it('shows the screen that was chosen last, even if an earlier one loads longer', async () => {
    const { handlers } = electron.stand;
    const answer = handlers.get('accounts-client')!;
    const [held, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    handlers.set('accounts-client', async (event, ...given) => {
      if (given[0] !== 'listSessions') return answer(event, ...given);
      await held.promise;
      const sessions = await answer(event, ...given);
      answered.resolve();
      return sessions;
    });
    await button('Security').click();
    await button('Profile').click();
    await expectScreen('Profile');
    held.resolve();
    await answered.promise;
    await page.evaluate('desktop.deviceName()');
    handlers.set('accounts-client', answer);
    await expectScreen('Profile');
    expect(await page.title()).toBe('Profile – Engine Room');
  });

  it('goes back by Escape, and serves nothing but its own files', async () => {
    await logOut();
    await button('Register').click();
    await expectScreen('Register');
    await page.keyboard.press('Escape');
    await expectScreen('Log in');
    const statusOf = async (url: string): Promise<number> => (await electron.stand.files!({ url })).status;
    const paths = ['/index.html', '/scripts/app.js', '/uqr/index.mjs', '/accounts-client/electron/page.js'];
    expect(await Promise.all(paths.map((path) => statusOf(`app://desktop${path}`)))).toEqual([
      200, 200, 200, 200,
    ]);
    const others = [
      '/../main/main.js',
      '/%2e%2e/package.json',
      '/scripts/..%2fmain/main.js',
      '/none.js',
      '/',
    ];
    expect(await Promise.all(others.map((path) => statusOf(`app://desktop${path}`)))).toEqual(
      others.map(() => 404),
    );
    expect(await statusOf('app://other/index.html')).toBe(404);
  });

  it('answers no other page, and runs no text as a script', async () => {
    const take = electron.stand.handlers.get('desktop:takeInvitation')!;
    const frames = [null, { origin: 'app://other', parent: null }, { origin: 'app://desktop', parent: {} }];
    for (const senderFrame of frames) expect(() => take({ senderFrame })).toThrow('not this page');
    const write = "try { document.body.innerHTML += '<b></b>'; 'written' } catch { 'refused' }";
    expect(await page.evaluate(write)).toBe('refused');
  });
});
