import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Client, createClient, memoryStore, type ProblemOf } from '../../client/src/index.ts';
import { freePort } from '../../client/src/free-port.ts';
import { accountsJson } from '../support/accounts-command.js';
import { type AddedProvider, addProvider, browserOf, ISSUER } from '../support/at-providers.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { MailServer } from '../support/mail-server.js';
import { TestProvider } from '../support/provider.js';
import { type Instance, startOwnService } from '../support/service.js';
import { decodeToken } from '../support/signing-keys.js';
import { expectPrinted, outputOf } from './support/outputs.js';
import { PageReader, run, snippetsOf, typeErrors } from './support/page-program.js';

const [JOAN, MARY] = ['joan@example.com', 'mary@example.com'];
const GRACE = { email: 'grace@example.com', password: 'a nanosecond of copper wire' };
/** Declares what the pages leave to their reader; the test answers for them. */
const DECLARED = `declare function ask(question: string): Promise<string>;
  declare function showQrCode(uri: string, secret: string): Promise<void>;
  declare function showOnce(...keys: string[]): void;
  declare function openBrowser(url: string): Promise<void>;
  declare const [serviceSecret, configDirectory]: [string, string];`;

/** In this order each snippet has what it builds on. */
const CLIENTS_PAGES = [
  'clients',
  'clients-store',
  'clients-organizations',
  'clients-account',
  'clients-providers',
  'clients-development',
];
const SNIPPETS = CLIENTS_PAGES.flatMap((page) => snippetsOf(`docs/${page}.md`));
const OF_SHELLS = SNIPPETS.filter((snippet) =>
  /from '(?:electron|@tauri-apps|accounts-client\/electron)/.test(snippet),
);
const SHELL_TYPES = `import ${JSON.stringify(resolve(import.meta.dirname, 'support/desktop-shells.d.ts'))};`;
const CLIENTS_PROGRAM = [
  DECLARED,
  ...SNIPPETS.filter((snippet) => !OF_SHELLS.includes(snippet)),
  `export {
  account, candidates, canRegister, needsInvitation, client, exported, first, givenUp, grace, isLoggedIn, joan, joined, late, left,
  colleagues, mary, me, message, nameOf, names, old, handedOff, ownChange, profile, protectedLogin, quick, recoveryCodes, registered, repeated,
  toService, withProfile, needsLogin, screen, codeToShow,
  second, storeIn, screens, stop, since, user, wouldWork, enabled, orgs, self, waiting,
  buttons, byTest, company, pasted, companyNames, logIns, whenDown,
};`,
].join('\n');

interface Results extends Record<string, unknown> {
  user: { id: string; email: string };
  handedOff: { token: string };
  protectedLogin: { token: string };
}

/** What the program of the pages for clients exports. */
interface ClientResults extends Results {
  client: Client;
  grace: Client;
  joan: Client;
  mary: Client;
  names: string[];
  needsLogin: (problem: ProblemOf) => boolean;
  colleagues: object[];
  logIns: { login?: { by: string } | null }[];
  nameOf: (member: object) => string;
}

let mailServer: MailServer;
let installation: Installation;
let acme: AddedProvider;
let service: Instance;
/** what the browser shows */
let screen: string | undefined;

/** Each page has a service of its own: they register the same users. */
async function startForReader(): Promise<void> {
  mailServer = await MailServer.start();
  installation = await anInstallation();
  const env = { ...mailServer.env, JWT_ISSUER: ISSUER, CROSS_DEVICE_LOGIN: 'anywhere' };
  service = await startOwnService({ installation, env });
  const settings = { name: 'acme', domains: ['example.com', 'acme.example'], createUsers: true };
  acme = await addProvider(service, await TestProvider.start(), settings);
  const configDirectory = join(installation.directory, 'config');
  await mkdir(configDirectory);
  const [billing] = await accountsJson<{ secret: string }>(installation, [
    'services',
    'add',
    'billing',
    '--allow',
    'keys',
  ]);
  const reader = new PageReader(mailServer, JOAN, MARY);
  const ask = (question: string): Promise<string> => {
    if (question.includes('browser')) return codeToPaste();
    return question.includes('password') ? Promise.resolve(GRACE.password) : reader.ask(question);
  };
  const { showQrCode } = reader;
  const showOnce = (): void => undefined;
  acme.provider.addUser('grace', { email: GRACE.email, email_verified: true });
  const openBrowser = (url: string): Promise<void> => browse(url, 'grace');
  const ofReader = { ask, openBrowser, showOnce, showQrCode, configDirectory };
  Object.assign(globalThis, { ...ofReader, serviceSecret: billing!.secret });
}

/** The browser of a user at the provider, which comes back to the program, or shows a code. */
async function browse(url: string, sub: string): Promise<void> {
  screen = undefined;
  const visit = await browserOf(service, acme, sub).visit(url);
  screen = await (visit.response ?? (await fetch(visit.url))).text();
}

async function codeToPaste(): Promise<string> {
  await expect.poll(() => screen).toBeDefined();
  return /^[\w-]{43}$/m.exec(screen!)![0];
}

async function stop(): Promise<void> {
  for (const name of ['ask', 'openBrowser', 'showOnce', 'showQrCode', 'configDirectory', 'serviceSecret'])
    Reflect.deleteProperty(globalThis, name);
  await service.stop();
  acme.provider.stop();
  await installation.remove();
  await mailServer.stop();
}

describe('the pages for clients', () => {
  beforeAll(startForReader);
  afterAll(stop);

  it('compiles under strict rules', async () => {
    const shells = OF_SHELLS.map((text, index) => [`shell-${index}.ts`, `${SHELL_TYPES}\n${text}`] as const);
    const programs = { 'clients-page.ts': CLIENTS_PROGRAM, ...Object.fromEntries(shells) };
    expect(OF_SHELLS).toHaveLength(4);
    expect(await typeErrors(installation.directory, programs)).toEqual([]);
  });

  it('goes through the life of a login', async () => {
    const text = CLIENTS_PROGRAM.replace(/(?<=const baseUrl = ')[^']+/, service.url).replace(
      "'../accounts'",
      `'${resolve('.')}'`,
    );
    const results = (await run(join(installation.directory, 'clients-page.mjs'), text)) as ClientResults;
    const { user, client, grace } = results;

    expect(results['registered']).toMatchObject({ ok: true, data: { user } });
    expect(results['me']).toMatchObject({ data: { user: { ...user, emailVerified: false }, orgs: [] } });
    expect(results['message']).toBe('The email or the password is wrong.');
    expect(results['quick']).toMatchObject({ ok: true });
    expect(results['givenUp']).toMatchObject({ problem: { code: 'aborted' } });
    expect([results['first'], results['isLoggedIn']]).toEqual([results['second'], true]);
    expect(results['screen']).toBe('main');
    expect(results['since']).toBe('');
    expect(results['screens']).toEqual([
      'main',
      'main',
      'login, because of log_out',
      'main',
      'login, because of account_deleted',
    ]);
    expect(decodeToken(results.handedOff.token).claims).toMatchObject({ sub: user.id, aud: 'billing' });
    expect(results['account']).toMatchObject({ emailVerified: true });
    expect(results['old']).toHaveLength(1);
    expect(results['joined']).toMatchObject({ org: { name: 'Engines' }, role: 'member' });
    for (const { getAccount } of [results.joan, results.mary])
      expect(await getAccount()).toMatchObject({ data: { emailVerified: true } });
    expect(results['codeToShow']).toMatch(/^[0-9A-Z]{5}-[0-9A-Z]{5}$/);
    expect(results['recoveryCodes']).toHaveLength(10);
    expect(decodeToken(results.protectedLogin.token).claims['amr']).toEqual(['pwd', 'otp']);
    expect([results['enabled'], results['orgs'], results['waiting']]).toMatchObject([
      true,
      [{ name: 'Engines' }, { name: 'Looms' }],
      [{ email: 'hedy@example.com' }],
    ]);
    expect(results['buttons']).toEqual([{ provider: 'acme', label: 'Log in with Title of acme' }]);
    for (const login of [results['company'], results['pasted']])
      expect(login).toMatchObject({ ok: true, data: { user: { email: GRACE.email } } });
    expect(results['companyNames']).toEqual(['Title of acme']);
    const openedBy = results.logIns.map(({ login }) => login?.by);
    expect(openedBy).toEqual(expect.arrayContaining(['provider', 'password']));
    expect([results['byTest'], results['whenDown']]).toMatchObject([
      { ok: true },
      { ok: false, problem: { code: 'unreachable' } },
    ]);
    const profile = { name: 'Ada Lovelace', avatarUrl: 'https://example.com/ada.png', locale: 'de' };
    expect([results['profile'], results['withProfile']]).toEqual([profile, profile]);
    expect(results.colleagues.map(results.nameOf)).toContain('Ada Lovelace');
    expect(results['self']).toMatchObject({ userId: user.id, role: 'owner' });
    expect(results['repeated']).toMatchObject({ replayed: true });
    const headers = new Headers(results['ownChange'] as Record<string, string>);
    expect([...headers]).toHaveLength(1);
    expectPrinted(
      `Accounts-Revision: ${headers.get('accounts-revision')}`,
      outputOf('docs/services.md', 'Accounts-Revision'),
    );
    expect(results['late']).toMatchObject({ problem: { code: 'precondition_failed' } });
    expect([results['wouldWork'], results['candidates']]).toMatchObject([
      true,
      [{ email: 'grace@example.com' }],
    ]);
    expect(results.names.toSorted()).toEqual(['ada@example.com', 'grace@example.com']);
    expect(results['exported']).toMatchObject({ account: { id: user.id } });
    expect(await grace.getMe()).toMatchObject({
      data: { orgs: [{ name: 'Engines' }, { name: 'Looms' }, { name: 'Wind mills' }] },
    });
    expect(await client.isLoggedIn()).toBe(false);
    const ended = await client.getMe();
    expect(!ended.ok && results.needsLogin(ended.problem)).toBe(true);
    expect(await client.login({ email: 'countess@example.com', password: 'any' })).toMatchObject({
      problem: { code: 'invalid_credentials' },
    });
  });

  it('logs in at a provider in the main process of Electron, and gives the page a code only', async () => {
    const snippet = OF_SHELLS.find((one) => one.includes('answerCompanyLogins'));
    type Handler = (event: object, provider: string, proof?: object) => Promise<string>;
    let handler: Handler | undefined;
    const ipcMain = { handle: (_: string, given: Handler) => (handler = given) };
    acme.provider.addUser('barbara', { email: 'barbara@example.com', email_verified: true });
    const shell = { openExternal: (url: string) => browse(url, 'barbara') };
    Object.assign(globalThis, { electron: { ipcMain, shell } });
    const program = snippet!.replace(/import (.*) from 'electron'/, 'const $1 = globalThis.electron');
    const loaded = await run(join(installation.directory, 'electron-main.mjs'), program);
    const { answerCompanyLogins } = loaded as { answerCompanyLogins: (client: Client) => void };
    const password = 'data abstraction and hierarchy';
    const [other, client] = [1, 2].map(() => createClient({ baseUrl: service.url, store: memoryStore() }));
    expect(await other!.register({ email: 'barbara@example.com', password })).toMatchObject({ ok: true });
    answerCompanyLogins(client!);

    const page = { senderFrame: { origin: 'app://accounts' } };
    expect(await handler!(page, 'acme')).toBe('link_required');
    expect(await handler!(page, 'acme', { password })).toBe('ok');
    expect(await client!.isLoggedIn()).toBe(true);
    await expect(handler!({ senderFrame: { origin: 'https://example.com' } }, 'acme')).rejects.toThrow(
      'another page',
    );
  });

  it('has the requests of the ten most used operations with curl', () => {
    const commands = snippetsOf('docs/clients-http.md', 'sh').find((snippet) => snippet.startsWith('BASE='));
    const script = commands!.replace(/BASE=.*/, `BASE=${service.url}`);
    const { stdout, stderr, status } = spawnSync('sh', ['-euc', script], { encoding: 'utf8' });

    expect({ stderr, status }, stdout).toEqual({ stderr: '', status: 0 });
    expectPrinted(stdout, outputOf('docs/clients-http.md', '{"user"'));
    expect(linesOf(stdout)).toMatchObject([
      { user: { email: 'alan@example.com', emailVerified: false }, orgs: [] },
      { invitation: { email: 'joan.clarke@example.com', role: 'admin' } },
      { members: [{ email: 'alan@example.com', role: 'owner' }] },
      { code: expect.any(String) as unknown },
      {
        sessions: [
          { via: 'password', current: true },
          { via: 'password', current: false },
        ],
      },
      { ok: true },
    ]);
  });

  it('revokes a key that was found with curl', () => {
    const [command] = snippetsOf('docs/clients-account.md', 'sh');
    const here = command!.replace('https://accounts.example.com', service.url).replace('curl', 'curl -sS');
    const { stdout, stderr, status } = spawnSync('sh', ['-euc', here], { encoding: 'utf8' });
    expect({ stderr, status, answer: JSON.parse(stdout) as unknown }).toEqual({
      stderr: '',
      status: 0,
      answer: { ok: true },
    });
  });

  it('logs in at a provider with curl and a listener', async () => {
    const [base, login] = ['BASE=', 'pkce()'].map((start) =>
      snippetsOf('docs/clients-http.md', 'sh').find((snippet) => snippet.startsWith(start))!,
    );
    const directory = join(installation.directory, 'curl');
    await mkdir(directory);
    acme.provider.addUser('alan', { email: 'alan@acme.example', email_verified: true });
    const desktop = createServer((request, response) => {
      response.end();
      void textOf(request).then((url) => browse(url, 'alan'));
    }).listen(0, '127.0.0.1');
    await once(desktop, 'listening');
    const { port } = desktop.address() as AddressInfo;
    const opener = `#!/bin/sh\ncurl -sS --data-binary "$1" http://127.0.0.1:${port}\n`;
    await writeFile(join(directory, 'xdg-open'), opener, { mode: 0o755 });
    const [first, ...functions] = base!.split('\n').slice(0, 3);
    const script = [first!.replace(/BASE=.*/, `BASE=${service.url}`), ...functions, login].join('\n');
    const own = script.replaceAll('49152', String(await freePort()));
    const PATH = `${directory}:${process.env['PATH']}`;

    const ran = promisify(execFile)('sh', ['-euc', own], { cwd: directory, env: { PATH } });
    const { stdout } = await ran.finally(() => desktop.close());

    expectPrinted(stdout, outputOf('docs/clients-http.md', '{"token"'));
    expect(linesOf(stdout)).toMatchObject([{ user: { email: 'alan@acme.example' } }]);
  });
});

const linesOf = (text: string): unknown[] =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
