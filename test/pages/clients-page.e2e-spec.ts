import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { accountsJson } from '../support/accounts-command.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { MailServer } from '../support/mail-server.js';
import { AuthenticatorApp } from '../support/second-factor.js';
import { type Instance, startOwnService } from '../support/service.js';
import { decodeToken } from '../support/signing-keys.js';

const ROOT = resolve(import.meta.dirname, '../..');
const SNIPPETS = [
  ...readFileSync(join(ROOT, 'docs/clients.md'), 'utf8').matchAll(/^```ts\n(.*?)^```$/gms),
].map(([, snippet]) => snippet!);

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

describe('docs/clients.md', () => {
  let installation: Installation;
  let mailServer: MailServer;
  let service: Instance;
  let app: AuthenticatorApp | undefined;
  let asked = 0;
  const invited = [JOAN, MARY];

  beforeAll(async () => {
    mailServer = await MailServer.start();
    installation = await anInstallation();
    service = await startOwnService({
      installation,
      env: mailServer.env,
    });
    const [billing] = await accountsJson<{ secret: string }>(installation, ['services', 'add', 'billing']);
    Object.assign(globalThis, { ask, showQrCode, serviceSecret: billing!.secret });
  });
  afterAll(async () => {
    for (const name of ['ask', 'showQrCode', 'serviceSecret']) Reflect.deleteProperty(globalThis, name);
    await service.stop();
    await installation.remove();
    await mailServer.stop();
  });

  async function showQrCode(uri: string, secret: string): Promise<void> {
    expect(new URL(uri).searchParams.get('secret')).toBe(secret);
    app = new AuthenticatorApp(secret);
    await Promise.resolve();
  }

  /** The code of the next mail that holds one; of an invitation, of the mail to whoever is asked for it next. */
  async function ask(question: string): Promise<string> {
    if (question.includes('app')) return app!.next();
    if (question.includes('invitation')) return (await mailServer.next(invited.shift()!)).code!;
    asked += 1;
    const own = () => mailServer.mails.filter(({ subject }) => !subject.includes('invited'));
    const codes = (): string[] => own().flatMap(({ code }) => code ?? []);
    await waitFor('the mail with the code', hangTimeoutMs(), () => codes().length >= asked);
    return codes()[asked - 1]!;
  }

  async function run(): Promise<Results> {
    const { outputText } = ts.transpileModule(PROGRAM.replace(/(?<=const accounts = ')[^']+/, service.url), {
      compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2024 },
    });
    const file = join(installation.directory, 'clients-page.mjs');
    await writeFile(file, outputText);
    return (await import(pathToFileURL(file).href)) as Results;
  }

  it('compiles under strict rules', async () => {
    const file = join(installation.directory, 'clients-page.ts');
    await writeFile(file, PROGRAM);
    const program = ts.createProgram([file], {
      module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      target: ts.ScriptTarget.ES2024,
      strict: true,
      noUncheckedIndexedAccess: true,
      erasableSyntaxOnly: true,
      skipLibCheck: true,
      noEmit: true,
      typeRoots: [join(ROOT, 'node_modules/@types')],
      types: ['node'],
    });
    const errors = ts.getPreEmitDiagnostics(program).map(({ messageText }) => messageText);
    expect(SNIPPETS.length).toBeGreaterThan(10);
    expect(errors).toEqual([]);
  });

  it('goes through the life of a login', async () => {
    const results = await run();
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
    expect(asked).toBe(3);
    expect(mailServer.to('countess@example.com').length).toBeGreaterThan(0);
  });
});
