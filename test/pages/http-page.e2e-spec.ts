import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { accountsJson } from '../support/accounts-command.js';
import { anInstallation } from '../support/installation.js';
import { MailServer } from '../support/mail-server.js';
import { startOwnService } from '../support/service.js';
import { decodeToken } from '../support/signing-keys.js';
import { run, snippetsOf, typeErrors } from './support/page-program.js';
import { PageReader } from './support/page-reader.js';

const SNIPPETS = snippetsOf('docs/http.md');
/** Declares what the page leaves to its reader; the test answers for them. */
const [JOAN, MARY] = ['joan@example.com', 'mary@example.com'];
const ASK = `declare function ask(question: string): Promise<string>;
  declare function showQrCode(uri: string, secret: string): Promise<void>;
  declare const serviceSecret: string;`;
const RESULTS = [
  'registered',
  'user',
  'code',
  'account',
  'sessions',
  'old',
  'last',
  'keychain',
  'send',
  'grace',
  'late',
  'wouldWork',
  'candidates',
  'joan',
  'mary',
  'joined',
  'me',
  'served',
  'passedOn',
  'exported',
  'recoveryCodes',
  'protectedLogin',
] as const;
const EXPORT = `export { ${RESULTS.join(', ')} };`;

const PROGRAM = [ASK, ...SNIPPETS, EXPORT].join('\n');

interface Results {
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

const mailServer = await MailServer.start();
const installation = await anInstallation();
const service = await startOwnService({
  installation,
  env: mailServer.env,
});
const [billing] = await accountsJson<{ secret: string }>(installation, ['services', 'add', 'billing']);
const { ask, showQrCode } = new PageReader(mailServer, JOAN, MARY);
Object.assign(globalThis, { ask, showQrCode, serviceSecret: billing!.secret });
afterAll(async () => {
  for (const name of ['ask', 'showQrCode', 'serviceSecret']) Reflect.deleteProperty(globalThis, name);
  await service.stop();
  await installation.remove();
  await mailServer.stop();
});

describe('docs/http.md', () => {
  it('compiles under strict rules', async () => {
    expect(SNIPPETS.length).toBeGreaterThan(10);
    expect(await typeErrors(installation.directory, { 'http-page.ts': PROGRAM })).toEqual([]);
  });

  it('goes through the life of a login', async () => {
    const text = PROGRAM.replace(/(?<=const accounts = ')[^']+/, service.url);
    const results = (await run(join(installation.directory, 'http-page.mjs'), text)) as Results;
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
