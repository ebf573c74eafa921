import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Client, DataOf, Result } from '../../client/src/index.ts';
import { accountsJson } from '../support/accounts-command.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { MailServer } from '../support/mail-server.js';
import { type Instance, startOwnService } from '../support/service.js';
import { decodeToken } from '../support/signing-keys.js';
import { PageReader, run, snippetsOf, typeErrors } from './support/page-program.js';

const [JOAN, MARY] = ['joan@example.com', 'mary@example.com'];
/** Declares what the pages leave to their reader; the test answers for them. */
const DECLARED = `declare function ask(question: string): Promise<string>;
  declare function showQrCode(uri: string, secret: string): Promise<void>;
  declare const [serviceSecret, configDirectory]: [string, string];`;

const CLIENTS_PAGE = snippetsOf('docs/clients.md');
const OF_SHELLS = CLIENTS_PAGE.filter((snippet) => /from '(?:electron|@tauri-apps)/.test(snippet));
const SHELL_TYPES = `import ${JSON.stringify(resolve(import.meta.dirname, 'support/desktop-shells.d.ts'))};`;
const CLIENTS_PROGRAM = [
  DECLARED,
  ...CLIENTS_PAGE.filter((snippet) => !OF_SHELLS.includes(snippet)),
  `export {
  account, candidates, client, exported, first, givenUp, grace, isLoggedIn, joan, joined, late, left,
  mary, me, message, names, old, passedOn, protectedLogin, quick, recoveryCodes, registered, repeated,
  second, storeIn, user, wouldWork,
};`,
].join('\n');

const HTTP_PAGE = snippetsOf('docs/http.md');
const HTTP_PROGRAM = [
  DECLARED,
  ...HTTP_PAGE,
  `export {
  registered, user, code, account, sessions, old, last, keychain, send, grace, late, wouldWork,
  candidates, joan, mary, joined, me, served, passedOn, exported, recoveryCodes, protectedLogin,
};`,
].join('\n');

type Any = Result<unknown, { code: string }>;
interface ClientResults extends Record<
  'first' | 'givenUp' | 'late' | 'left' | 'me' | 'quick' | 'registered' | 'second',
  Any
> {
  account: DataOf<'getAccount'>;
  candidates: { email: string }[];
  client: Client;
  exported: DataOf<'exportOwnData'>;
  grace: Client;
  isLoggedIn: boolean;
  joan: Client;
  joined: DataOf<'acceptInvitationByCode'>;
  mary: Client;
  message: string;
  names: string[];
  old: unknown[];
  passedOn: { token: string };
  protectedLogin: { token: string };
  recoveryCodes: string[];
  repeated: { replayed: boolean };
  user: { id: string; email: string };
  wouldWork: boolean;
}

interface HttpResults {
  registered: { token: string };
  user: { id: string; email: string };
  code: string;
  account: { emailVerified: boolean };
  sessions: { current: boolean; via: string }[];
  old: unknown[];
  last: { token: string };
  recoveryCodes: string[];
  protectedLogin: { token: string };
  keychain: Map<string, string>;
  joan: { token: string };
  mary: { token: string };
  me: object;
  served: { user: { email: string } };
  passedOn: { token: string };
  exported: string;
  joined: { org: { name: string }; role: string };
  send: (method: string, path: string, body?: unknown, token?: string) => Promise<unknown>;
  grace: { token: string };
  late: unknown;
  wouldWork: boolean;
  candidates: { email: string; role: string }[];
}

let mailServer: MailServer;
let installation: Installation;
let service: Instance;

/** Each page has a service of its own: they register the same users. */
async function startForReader(): Promise<void> {
  mailServer = await MailServer.start();
  installation = await anInstallation();
  service = await startOwnService({ installation, env: mailServer.env });
  const configDirectory = join(installation.directory, 'config');
  await mkdir(configDirectory);
  const [billing] = await accountsJson<{ secret: string }>(installation, ['services', 'add', 'billing']);
  const { ask, showQrCode } = new PageReader(mailServer, JOAN, MARY);
  Object.assign(globalThis, { ask, showQrCode, configDirectory, serviceSecret: billing!.secret });
}

async function stop(): Promise<void> {
  for (const name of ['ask', 'showQrCode', 'configDirectory', 'serviceSecret'])
    Reflect.deleteProperty(globalThis, name);
  await service.stop();
  await installation.remove();
  await mailServer.stop();
}

describe('docs/clients.md', () => {
  beforeAll(startForReader);
  afterAll(stop);

  it('compiles under strict rules', async () => {
    const [electron, tauri] = OF_SHELLS.map((snippet) => `${SHELL_TYPES}\n${snippet}`);

    expect(OF_SHELLS).toHaveLength(2);
    expect(
      await typeErrors(installation.directory, {
        'clients-page.ts': CLIENTS_PROGRAM,
        'electron.ts': electron!,
        'tauri.ts': tauri!,
      }),
    ).toEqual([]);
  });

  it('goes through the life of a login', async () => {
    const text = CLIENTS_PROGRAM.replace(/(?<=const baseUrl = ')[^']+/, service.url);
    const results = (await run(join(installation.directory, 'clients-page.mjs'), text)) as ClientResults;
    const { user, client, grace } = results;

    expect(results.registered).toMatchObject({ ok: true, data: { user } });
    expect(results.me).toMatchObject({ data: { user: { ...user, emailVerified: false }, orgs: [] } });
    expect(results.message).toBe('The email or the password is wrong.');
    expect(results.quick.ok).toBe(true);
    expect(results.givenUp).toMatchObject({ problem: { code: 'aborted' } });
    expect([results.first, results.isLoggedIn]).toEqual([results.second, true]);
    expect(decodeToken(results.passedOn.token).claims).toMatchObject({ sub: user.id, aud: 'billing' });
    expect(results.account.emailVerified).toBe(true);
    expect(results.old).toHaveLength(1);
    expect(results.joined).toMatchObject({ org: { name: 'Engines' }, role: 'member' });
    for (const { getAccount } of [results.joan, results.mary])
      expect(await getAccount()).toMatchObject({ data: { emailVerified: true } });
    expect(results.recoveryCodes).toHaveLength(10);
    expect(decodeToken(results.protectedLogin.token).claims['amr']).toEqual(['pwd', 'otp']);
    expect(results.repeated.replayed).toBe(true);
    expect(results.late).toMatchObject({ problem: { code: 'precondition_failed' } });
    expect([results.wouldWork, results.candidates]).toMatchObject([true, [{ email: 'grace@example.com' }]]);
    expect(results.names.toSorted()).toEqual(['countess@example.com', 'grace@example.com']);
    expect(results.exported).toMatchObject({ account: { id: user.id } });
    expect(await grace.getMe()).toMatchObject({
      data: { orgs: [{ name: 'Engines' }, { name: 'Power looms' }] },
    });
    expect(await client.isLoggedIn()).toBe(false);
    expect(await client.login({ email: 'countess@example.com', password: 'any' })).toMatchObject({
      problem: { code: 'invalid_credentials' },
    });
  });
});

describe('docs/http.md', () => {
  beforeAll(startForReader);
  afterAll(stop);

  it('compiles under strict rules', async () => {
    expect(HTTP_PAGE.length).toBeGreaterThan(10);
    expect(await typeErrors(installation.directory, { 'http-page.ts': HTTP_PROGRAM })).toEqual([]);
  });

  it('goes through the life of a login', async () => {
    const text = HTTP_PROGRAM.replace(/(?<=const accounts = ')[^']+/, service.url);
    const results = (await run(join(installation.directory, 'http-page.mjs'), text)) as HttpResults;
    const { user, code, account, sessions, old, keychain, send, registered, last, grace, joan, mary } =
      results;

    expect(user.email).toBe('ada@example.com');
    expect(results.me).toEqual({ user: { ...user, emailVerified: false }, orgs: [] });
    expect(results.served.user).toEqual(user);
    expect(decodeToken(results.passedOn.token).claims).toMatchObject({ sub: user.id, aud: 'billing' });
    expect(code).toMatch(/^[\w-]{43}$/);
    expect(account.emailVerified).toBe(true);
    expect(sessions.map(({ current, via }) => [current, via])).toEqual(
      expect.arrayContaining([
        [true, 'password'],
        [false, 'password'],
      ]),
    );
    expect(old).toHaveLength(1);
    const members = await installation.db.query('SELECT email, role FROM members ORDER BY email');
    // The countess has deleted her account.
    expect(members).toEqual([
      { email: 'grace@example.com', role: 'owner' },
      { email: 'grace@example.com', role: 'owner' },
      { email: JOAN, role: 'admin' },
      { email: MARY, role: 'member' },
    ]);
    const events = await installation.db.query("SELECT type FROM events WHERE type = 'invitation.accepted'");
    expect(events).toHaveLength(3);
    expect(results.joined).toMatchObject({ org: { name: 'Engines' }, role: 'member' });
    for (const { token } of [joan, mary]) {
      expect(await send('GET', '/api/me/account', undefined, token)).toMatchObject({ emailVerified: true });
    }
    expect(await send('GET', '/api/me/account', undefined, grace.token)).toMatchObject({
      emailVerified: false,
    });
    expect(JSON.parse(results.exported)).toMatchObject({ account: { id: user.id } });
    expect(keychain.size).toBe(0);
    expect(results.recoveryCodes).toHaveLength(10);
    expect(decodeToken(results.protectedLogin.token).claims['amr']).toEqual(['pwd', 'otp']);
    for (const { token } of [registered, results.protectedLogin, last]) {
      await expect(send('GET', '/api/me', undefined, token)).rejects.toMatchObject({ status: 401 });
    }
    expect([results.late, results.wouldWork]).toEqual(['precondition_failed', true]);
    expect(results.candidates).toMatchObject([{ email: 'grace@example.com', role: 'admin' }]);
    expect(await send('GET', '/api/me', undefined, grace.token)).toMatchObject({
      orgs: [{ name: 'Engines' }, { name: 'Power looms' }],
    });
    expect(mailServer.to('countess@example.com').length).toBeGreaterThan(0);
  });
});
