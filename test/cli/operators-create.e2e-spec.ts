import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { encode } from 'uqr';
import { KeyRing, readKeySet } from '../../src/auth/tokens/signing-keys.js';
import { accounts, accountsJson, BY_ROOT, failure } from '../support/accounts-command.js';
import { engine } from '../support/engine.js';
import { invalidToken, secondFactorCodeUsed, secondFactorRequired } from '../support/expected.js';
import { eventsSince, knownEvents } from '../support/feed.js';
import { type Account, anAccount, anEmail, type Session } from '../support/personas.js';
import { aPendingSecret, AuthenticatorApp, enrol, secondStep } from '../support/second-factor.js';
import { startOwnService } from '../support/service.js';
import { Terminal } from '../support/terminal.js';

interface Created {
  id: string;
  email: string;
  created: boolean;
  changed: boolean;
  password?: string;
  secret: string;
  uri: string;
  recoveryCodes: string[];
}

const QUESTION = /Code that the app shows: /;
const CLOSED = { REGISTRATION: 'closed', REGISTRATION_DOMAINS: 'example.org' };

const service = await startOwnService({ env: { RATE_LIMIT_REGISTER: 'off', RATE_LIMIT_LOGIN: 'off' } });
const { installation } = service;
afterAll(() => service.stop());

const createCommand = (email: string, ...more: string[]) => [
  'operators',
  'create',
  email,
  ...more,
  ...BY_ROOT,
];
const open = (email: string, ...more: string[]) =>
  Terminal.open(installation, createCommand(email, ...more), { env: CLOSED });
const create = (email: string, ...more: string[]) =>
  accountsJson<Created>(installation, createCommand(email, '--no-confirm', ...more), { env: CLOSED });
const appOf = async (terminal: Terminal): Promise<AuthenticatorApp> => {
  const [, secret] = await terminal.until(/[?&]secret=([A-Z2-7]{32})&/);
  await terminal.until(QUESTION);
  return new AuthenticatorApp(secret!);
};
const rowsOf = (email: string) => service.db.query('SELECT * FROM users WHERE email = ?', [email]);

async function logIn({ email, password }: Record<'email' | 'password', string>, code: string) {
  const first = await service.anyone.post<{ challenge: string }>('/api/auth/login', { email, password });
  expect(first).toMatchObject(secondFactorRequired);
  return secondStep(service, first.body.challenge, code);
}

async function expectOperator(
  credentials: Record<'email' | 'password', string>,
  code: string,
): Promise<Session> {
  const { status, body, text } = await logIn(credentials, code);
  expect(status, text).toBe(200);
  const listed = await service.anyone.withToken(body.token).get('/api/operators/users');
  expect(listed.status, listed.text).toBe(200);
  return body;
}

describe('accounts operators create', () => {
  it('creates the user after the right code, and shows password, secret and recovery codes once', async () => {
    const known = await knownEvents(service.db);
    const email = anEmail('ada');
    const terminal = open(email.toUpperCase(), '--name', 'Ada Lovelace');
    const app = await appOf(terminal);
    expect(await rowsOf(email)).toEqual([]);
    terminal.type(`${app.wrong()}\r`);
    await terminal.until(/The code is wrong\. The clock of this machine shows \S+Z\.\r\n[^]*app shows: /);
    expect(await rowsOf(email)).toEqual([]);
    const code = app.next();
    terminal.type(`${code}\r`);

    const { code: exitCode, stdout } = await terminal.result();
    expect([exitCode, stdout], terminal.shown).toEqual([
      0,
      expect.stringMatching(
        new RegExp(
          `^${email} \\(\\S{36}\\): created, now an operator\npassword: [\\w-]{20}\nrecovery codes, .*:\n(?:  [0-9A-Z-]{30}\n){10}$`,
        ),
      ),
    ]);
    const password = /^password: (.*)$/m.exec(stdout)![1]!;
    const recoveryCodes = stdout.match(/(?<=^ {2})\S+$/gm)!;
    const [user] = await rowsOf(email);
    expect(user).toMatchObject({ name: 'Ada Lovelace' });
    expect(user!['email_verified_at']).not.toBeNull();

    expect(await logIn({ email, password }, code)).toMatchObject(secondFactorCodeUsed);
    await expectOperator({ email, password }, app.next());
    await expectOperator({ email, password }, recoveryCodes[9]!);
    const events = await eventsSince(service.db, known);
    const about = { user_id: user!['id'], actor_id: 'root', reason: 'a test' };
    expect(events.filter(({ actor_id }) => actor_id === 'root')).toMatchObject([
      { ...about, type: 'account.operator_granted', data: {} },
      { ...about, type: 'account.registered', data: { via: 'operator' } },
      { ...about, type: 'account.second_factor_enabled' },
    ]);
    const told = JSON.stringify([events, service.logs]);
    for (const secret of [password, app.secret, ...recoveryCodes]) expect(told).not.toContain(secret);
  });

  it('creates one of two who are asked for the same email at once, and refuses the other', async () => {
    const email = anEmail('joan');
    const known = await knownEvents(service.db);
    const terminals = [open(email), open(email)];
    const apps = await Promise.all(terminals.map(appOf));
    terminals.forEach((terminal, index) => terminal.type(`${apps[index]!.next()}\r`));
    const results = await Promise.all(terminals.map((terminal) => terminal.result()));

    expect(new Set(results.map(({ code }) => code))).toEqual(new Set([0, 1]));
    const winner = results.findIndex(({ code }) => code === 0);
    expect(terminals[1 - winner]!.shown).toMatch(/refused: .*\(email_taken\)\r\n$/);
    expect(results[1 - winner]!.stdout).toBe('');
    const password = /^password: (.*)$/m.exec(results[winner]!.stdout)![1]!;
    expect(await rowsOf(email)).toHaveLength(1);
    const granted = (await eventsSince(service.db, known)).map(({ type }) => type);
    expect(granted.filter((type) => type === 'account.operator_granted')).toHaveLength(1);
    await expectOperator({ email, password }, apps[winner]!.next());
  });

  it('protects one user once if two commands ask at once', async () => {
    const ada = await anAccount(service, 'ada');
    const terminals = [open(ada.email), open(ada.email)];
    const apps = await Promise.all(terminals.map(appOf));
    terminals.forEach((terminal, index) => terminal.type(`${apps[index]!.next()}\r`));
    const results = await Promise.all(terminals.map((terminal) => terminal.result()));

    expect(new Set(results.map(({ code }) => code))).toEqual(new Set([0, 1]));
    const winner = results.findIndex(({ code }) => code === 0);
    expect(terminals[1 - winner]!.shown).toMatch(
      /refused: .* two-factor authentication: run the command again\r\n$/,
    );
    await expectOperator(ada, apps[winner]!.next());
  });

  it('ends the sessions of an existing user, who keeps the password and is told by email', async () => {
    const ada = await anAccount(service, 'ada');
    await service.db.query('UPDATE users SET email_verified_at = 1 WHERE id = ?', [ada.id]);
    const pending = await aPendingSecret(ada);
    const known = await knownEvents(service.db);
    const env = { SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'no-reply@accounts.example' };
    const [created] = await accountsJson<Created>(installation, createCommand(ada.email, '--no-confirm'), {
      env,
    });

    expect(created).toEqual({
      id: ada.id,
      email: ada.email,
      created: false,
      changed: true,
      secret: expect.not.stringMatching(pending) as string,
      uri: expect.stringContaining(created!.secret) as string,
      recoveryCodes: Array<unknown>(10).fill(expect.any(String)),
    });
    expect(await ada.get('/api/me')).toMatchObject(invalidToken);
    await expectOperator(ada, new AuthenticatorApp(created!.secret).next());
    const mails = await service.db.query('SELECT kind, state FROM mails WHERE recipient = ?', [ada.email]);
    expect(mails).toEqual([{ kind: 'second_factor_enabled', state: 'waiting' }]);
    const about = { user_id: ada.id, actor_id: 'root', reason: 'a test' };
    const events = (await eventsSince(service.db, known)).filter(({ actor_id }) => actor_id === 'root');
    expect(events).toMatchObject([
      { ...about, type: 'account.operator_granted', data: {} },
      { ...about, type: 'account.second_factor_enabled' },
      { ...about, type: 'session.ended', data: { reason: 'second_factor_enabled', all: true, epoch: 1 } },
    ]);
  });

  it('only grants to a user with a second factor, without a terminal', async () => {
    const ada: Account = await anAccount(service, 'ada');
    const { secret } = await enrol(ada);
    const granted = { id: ada.id, email: ada.email, created: false, changed: true };
    const run = () => accountsJson(installation, createCommand(ada.email));
    expect(await run()).toEqual([granted]);
    expect(await run()).toEqual([{ ...granted, changed: false }]);
    expect((await ada.get('/api/operators/users')).status).toBe(200);
    await service.db.query('UPDATE second_factors SET last_step = 0 WHERE user_id = ?', [ada.id]);
    await expectOperator(ada, new AuthenticatorApp(secret).next());
  });

  describe.runIf(engine === 'sqlite')('on any database', () => {
    it.each([
      ['Ctrl-C', '\u0003', /error: interrupted\r\n$/],
      ['the end of the input', '\u0004', /error: no code was entered: nothing was changed\r\n$/],
    ])('leaves nothing after %s at the question', async (_how, key, error) => {
      const email = anEmail('joan');
      const known = await knownEvents(service.db);
      const terminal = open(email);
      await appOf(terminal);
      terminal.type(key);
      expect(await terminal.result()).toEqual({ code: 2, stdout: '' });
      expect(terminal.shown).toMatch(error);
      expect(await rowsOf(email)).toEqual([]);
      expect(await eventsSince(service.db, known)).toEqual([]);
    });

    it('leaves nothing if the terminal closes at the question', async () => {
      const email = anEmail('joan');
      const known = await knownEvents(service.db);
      const terminal = open(email);
      await appOf(terminal);
      await terminal.close();
      expect(await rowsOf(email)).toEqual([]);
      expect(await eventsSince(service.db, known)).toEqual([]);
    });

    it('refuses a user who was disabled while the command waited', async () => {
      const ada = await anAccount(service, 'ada');
      const terminal = open(ada.email);
      const app = await appOf(terminal);
      await accountsJson(installation, ['users', 'disable', ada.email]);
      const known = await knownEvents(service.db);
      terminal.type(`${app.next()}\r`);
      expect(await terminal.result()).toEqual({ code: 1, stdout: '' });
      expect(terminal.shown).toMatch(/refused: the user is disabled \(account_disabled\)\r\n$/);
      expect(await rowsOf(ada.email)).toMatchObject([{ operator_since: null, second_factor_at: null }]);
      expect(await eventsSince(service.db, known)).toEqual([]);
    });

    it('encrypts the secret with the keys that are left when the code is right', async () => {
      const email = anEmail('ada');
      const file = join(installation.directory, 'own-keys.json');
      const env = { JWT_KEYS_FILE: file };
      await accounts(installation, ['keys', 'create'], { env });
      const terminal = Terminal.open(installation, createCommand(email), { env });
      const app = await appOf(terminal);
      await rm(file);
      await accounts(installation, ['keys', 'create'], { env });
      terminal.type(`${app.next()}\r`);
      expect(await terminal.result()).toMatchObject({ code: 0 });
      const [{ id }] = (await rowsOf(email)) as [{ id: string }];
      const [row] = await service.db.query('SELECT secret FROM second_factors WHERE user_id = ?', [id]);
      const { thumbprint } = new KeyRing(readKeySet(await readFile(file, 'utf8'))).signing;
      expect(row!['secret']).toMatch(new RegExp(`^${thumbprint}\\.`));
    });

    it('draws the address of the secret dark on light, if the terminal has 64 columns', async () => {
      const [wide, narrow] = [64, 63].map((columns) =>
        Terminal.open(installation, createCommand(anEmail('ada')), { columns }),
      );
      await Promise.all([appOf(wide!), appOf(narrow!)]);
      const [uri] = await wide!.until(/otpauth:\S+/);
      const rows = wide!.shown.match(/(?<=38;5;231;48;5;16m)[ ▀▄█]+/g)!;
      const isLight = (rowOfModules: number, column: number): boolean => {
        const isUpper = rowOfModules % 2 === 0;
        return `█${isUpper ? '▀' : '▄'}`.includes(rows[Math.floor(rowOfModules / 2)]![column]!);
      };
      const expected = encode(uri, { border: 4 }).data;
      const drawn = expected.map((line, row) => line.map((_, column) => !isLight(row, column)));
      expect(drawn).toEqual(expected);
      expect(narrow!.shown).not.toMatch(/[▀▄█]/);
      for (const terminal of [wide!, narrow!]) await terminal.close();
    });

    it('prints the same as JSON, on a terminal and in a script', async () => {
      const [asked, scripted] = [anEmail('ada'), anEmail('joan')];
      const terminal = open(asked, '--json');
      const app = await appOf(terminal);
      terminal.type(`${app.next()}\r`);
      const { stdout } = await terminal.result();
      for (const [email, created] of [
        [asked, JSON.parse(stdout) as Created],
        [scripted, (await create(scripted))[0]!],
      ] as const) {
        expect(created).toEqual({
          id: expect.any(String) as string,
          email,
          created: true,
          changed: true,
          password: expect.stringMatching(/^[\w-]{20}$/) as string,
          secret: expect.stringMatching(/^[A-Z2-7]{32}$/) as string,
          uri: expect.stringMatching(`^otpauth://totp/accounts:.*secret=${created.secret}&`) as string,
          recoveryCodes: Array<unknown>(10).fill(expect.any(String)),
        });
        await expectOperator({ email, password: created.password! }, created.recoveryCodes[0]!);
      }
      const lines = await accounts(installation, createCommand(anEmail('ada'), '--no-confirm'));
      expect(lines).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^second factor: otpauth:.*$/m) as string,
      });
    });

    it('warns that the password of an unverified user may be that of another person', async () => {
      const ada = await anAccount(service, 'ada');
      const { stdout } = await accounts(installation, createCommand(ada.email, '--no-confirm'));
      expect(stdout).toMatch(new RegExp(`accounts users set-password ${ada.email}\n$`));
    });

    it('makes a password as long as PASSWORD_MIN_LENGTH wants', async () => {
      const env = { PASSWORD_MIN_LENGTH: '128' };
      const email = anEmail('ada');
      const [created] = await accountsJson<Created>(installation, createCommand(email, '--no-confirm'), {
        env,
      });
      expect(created!.password).toHaveLength(128);
      await expectOperator({ email, password: created!.password! }, created!.recoveryCodes[0]!);
    });

    it('refuses without a terminal, without keys, and for a disabled user', async () => {
      const disabled = await anAccount(service, 'ada');
      await service.db.query('UPDATE users SET disabled_at = 1 WHERE id = ?', [disabled.id]);
      const email = anEmail('joan');
      expect(await accounts(installation, createCommand(email))).toEqual(
        failure(2, /^error: the command asks for a code on a terminal: .*--no-confirm\n$/),
      );
      expect(await accounts(installation, createCommand('ada'))).toEqual(
        failure(2, 'error: expected the email of the operator\n'),
      );
      const env = { JWT_KEYS_FILE: `${installation.directory}/none.json` };
      expect(await accounts(installation, createCommand(email, '--no-confirm'), { env })).toEqual(
        failure(2, /there is no file .*none\.json/),
      );
      expect(await rowsOf(email)).toEqual([]);
      expect(await accounts(installation, createCommand(disabled.email, '--no-confirm'))).toEqual(
        failure(1, 'refused: the user is disabled (account_disabled)\n'),
      );
    });
  });
});
