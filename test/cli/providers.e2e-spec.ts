import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EncryptedSecrets } from '../../src/auth/tokens/derived-keys.js';
import type { DataOf } from '../../client/src/index.ts';
import { accounts, accountsJson, BY_ROOT, failure } from '../support/accounts-command.js';
import { times } from '../support/at-once.js';
import { eventsSince, knownEvents } from '../support/feed.js';
import { type Account, anAccount, anAccountOf, anUnknownId } from '../support/personas.js';
import { TestProvider } from '../support/provider.js';
import { allRows, insertRow, insertRows } from '../support/rows.js';
import { startOwnService } from '../support/service.js';
import { keyRingOf } from '../support/second-factor.js';

type Shown = DataOf<'adminGetProvider'>['provider'];
type Run = Parameters<typeof accounts>[2];

const ISSUER = 'https://accounts.example.com';

const service = await startOwnService({
  env: { RATE_LIMIT_REGISTER: 'off' },
});
const { db } = service;
const { directory, env } = service.installation;
const installation = { directory, env: { ...env, JWT_ISSUER: ISSUER } };
const WITH_MAIL = { env: { SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'accounts@example.com' } };
let provider: TestProvider;
let added = 0;

beforeAll(async () => {
  provider = await TestProvider.start();
});
afterAll(async () => {
  provider.stop();
  await service.stop();
});

const run = (parameters: string[], options?: Run) =>
  accounts(installation, ['providers', ...parameters], options);
const runJson = <T = Record<string, unknown>>(parameters: string[], options?: Run) =>
  accountsJson<T>(installation, ['providers', ...parameters, ...BY_ROOT], options);
const shown = async (name: string): Promise<Shown> =>
  (await accountsJson<Shown>(installation, ['providers', 'show', name]))[0]!;
const at = ({ issuer, clientId } = provider) => ['--issuer', issuer, '--client-id', clientId];
const theSecret = () => ({ input: `${provider.secret}\n` });

async function aProvider(...settings: string[]): Promise<string> {
  added += 1;
  const name = `acme-${added}`;
  await runJson(['add', name, ...at(), ...settings], theSecret());
  return name;
}

const isSignedIn = async (user: Account) => (await user.get('/api/me')).status === 200;

describe('accounts providers add', () => {
  it('tests the provider, and stores the secret encrypted and nowhere else', async () => {
    const known = await knownEvents(db);
    const { code, stdout, stderr } = await run(
      ['add', 'first', ...at(), '--title', 'Acme Inc.'],
      theSecret(),
    );

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.split('\n')).toEqual([
      'first: added',
      'discovery          ok',
      'keys               ok',
      'client and secret  ok',
      `redirect URI       ${ISSUER}/api/auth/providers/first/callback`,
      expect.stringMatching(/^email_verified {5}announced$/),
      expect.stringMatching(/^auth_time {10}/),
      '',
    ]);
    const [row] = await db.query("SELECT id, secret, revision FROM providers WHERE name = 'first'");
    const secrets = new EncryptedSecrets(await keyRingOf(service), 'provider secrets');
    expect(secrets.decrypt(String(row!['secret']), String(row!['id']))?.toString()).toBe(provider.secret);
    expect(JSON.stringify(await allRows(db))).not.toContain(provider.secret);
    expect(await eventsSince(db, known)).toMatchObject([
      { type: 'provider.added', actor_type: 'operator', data: { provider: 'first' } },
    ]);
    expect(await shown('first')).toEqual({
      name: 'first',
      redirectUri: `${ISSUER}/api/auth/providers/first/callback`,
      createdAt: expect.stringMatching(/Z$/),
      users: 0,
      title: 'Acme Inc.',
      issuer: provider.issuer,
      clientId: provider.clientId,
      disabledAt: null,
      domains: [],
      required: false,
      createUsers: false,
      linkByEmail: false,
      trustEmails: false,
      sameNetwork: false,
      sessionMaxAge: 86_400,
      scopes: 'openid email profile',
      emailClaim: 'email',
      subjectClaim: 'sub',
      require: null,
      params: null,
    });
    expect((await run(['add', 'first', ...at()], theSecret())).stderr).toBe(
      'refused: there is a provider first (provider_name_taken)\n',
    );
  });

  it('refuses a provider that fails the test, unless forced', async () => {
    const wrong = { input: 'not the secret\n' };
    const known = await knownEvents(db);
    expect(await run(['add', 'wrong', ...at()], wrong)).toEqual(
      failure(
        1,
        /^refused: the test of wrong failed, client and secret: .*--force \(provider_test_failed\)\n$/,
      ),
    );
    const nowhere = ['--issuer', 'http://127.0.0.1:9', '--client-id', 'a'];
    expect(await run(['add', 'wrong', ...nowhere], wrong)).toEqual(
      failure(1, /^refused: the test of wrong failed, discovery: .*\(provider_test_failed\)\n$/),
    );
    expect(await eventsSince(db, known)).toEqual([]);

    const { code, stdout } = await run(['add', 'wrong', ...at(), '--force'], wrong);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^client and secret {2}FAILED: /m);
    expect(await run(['test', 'wrong'])).toMatchObject({ code: 1 });
    expect(await run(['set-secret', 'wrong'], wrong)).toMatchObject({ code: 1 });
    await runJson(['set-secret', 'wrong'], theSecret());
    expect(await run(['test', 'wrong'])).toMatchObject({ code: 0 });
  });

  it.each([
    ['--issuer https://login.microsoftonline.com/common/v2.0', /name your tenant/],
    ['--issuer https://login.microsoftonline.com/organizations/v2.0', /name your tenant/],
    ['--issuer https://accounts.google.com', /--require hd=/],
    ['--issuer http://id.acme.example', /--issuer must be https/],
    ['--email-claim upn --domains a.example', /--trust-emails on/],
    ['--create-users on', /need a domain/],
    ['--session-max-age 31d', /must not exceed SESSION_MAX_AGE/],
  ])('refuses %s, forced or not', async (settings, said) => {
    const parameters = ['add', 'refused', ...at(), ...settings.split(' '), '--force'];
    const { code, stderr } = await run(parameters, theSecret());
    expect(code).toBe(1);
    expect(stderr).toMatch(/^refused: .*\(settings_refused\)\n$/);
    expect(stderr).toMatch(said);
  });

  it('refuses to add where JWT_ISSUER is not a URL', async () => {
    const options = { ...theSecret(), env: { JWT_ISSUER: 'accounts' } };
    expect(await run(['add', 'refused', ...at(), '--force'], options)).toEqual(
      failure(1, /^refused: JWT_ISSUER is not a URL: .*\n$/),
    );
  });

  it.each([
    ['no name', ['Acme']],
    ['the name of a route', ['finish']],
    ['no secret', ['acme', '--issuer', 'https://id.example', '--client-id', 'a']],
    ['two lines', ['acme', '--issuer', 'https://id.example', '--client-id', 'a'], { input: 'a\nb\n' }],
    [
      'a secret that is too long',
      ['acme', '--issuer', 'https://id.example', '--client-id', 'a'],
      { input: 'é'.repeat(501) },
    ],
    ['no issuer', ['acme', '--client-id', 'a']],
    ['no client', ['acme', '--issuer', 'https://id.example']],
    [
      'a wrong setting',
      ['acme', '--issuer', 'https://id.example', '--client-id', 'a', '--params', 'state=x'],
    ],
  ])('could not run with %s', async (_what, parameters, options: Run = {}) => {
    expect(await run(['add', ...parameters], options)).toMatchObject({ code: 2, stdout: '' });
  });

  it('names a wrong option as it is typed', async () => {
    const parameters = ['change', 'first', '--session-max-age', '4m'];
    expect(await run(parameters)).toEqual(failure(2, /^error: --session-max-age: expected a duration /));
  });
});

describe('accounts providers change', () => {
  it('changes what is given, at once, and says what changed', async () => {
    const name = await aProvider();
    const known = await knownEvents(db);
    const domain = `${name}.example`;
    const settings = [
      '--domains',
      domain,
      '--create-users',
      'on',
      '--require',
      'hd=a',
      '--session-max-age',
      '8h',
    ];

    const [first] = await runJson(['change', name, ...settings]);
    const [second] = await runJson(['change', name, ...settings]);
    const [third] = await runJson([
      'change',
      name,
      '--domains',
      `b.${domain},${domain}`,
      '--require',
      'none',
    ]);

    const changed = ['domains', 'createUsers', 'sessionMaxAge', 'require'];
    expect([first, second, third]).toEqual([
      { name, changed },
      { name, changed: [] },
      { name, changed: ['domains', 'require'] },
    ]);
    expect(await shown(name)).toMatchObject({
      domains: [domain, `b.${domain}`].toSorted(),
      createUsers: true,
      require: null,
      sessionMaxAge: 28_800,
    });
    expect(await eventsSince(db, known)).toMatchObject([
      { type: 'provider.changed', data: { provider: name, changed } },
      { type: 'provider.changed', data: { provider: name, changed: ['domains', 'require'] } },
    ]);
  });

  it('refuses a domain of another provider, settings that need a domain, and nothing at all', async () => {
    const [first, second] = [await aProvider('--domains', 'taken.example'), await aProvider()];
    expect(await run(['change', second, '--domains', 'free.example,taken.example'])).toEqual(
      failure(1, 'refused: another provider has the domain taken.example (domain_taken)\n'),
    );
    expect((await shown(second)).domains).toEqual([]);
    await runJson(['change', first, '--link-by-email', 'on']);
    expect(await run(['change', first, '--domains', 'none'])).toEqual(failure(1, /need a domain/));
    expect(await run(['change', first])).toEqual(failure(2, 'error: give at least one setting\n'));
    expect(await run(['change', 'nothing', '--title', 'a'])).toEqual(
      failure(2, 'error: there is no provider nothing\n'),
    );
  });

  it('keeps a session age that SESSION_MAX_AGE was lowered below, unless it is given', async () => {
    const name = await aProvider();
    const lowered = { env: { SESSION_MAX_AGE: '12h' } };
    await runJson(['change', name, '--title', 'Acme'], lowered);
    expect(await run(['change', name, '--session-max-age', '13h'], lowered)).toEqual(
      failure(1, /must not exceed SESSION_MAX_AGE/),
    );
    await runJson(['add', `${name}-b`, ...at()], { ...theSecret(), ...lowered });
    expect((await shown(`${name}-b`)).sessionMaxAge).toBe(43_200);
    await runJson(['add', `${name}-c`, ...at()], { ...theSecret(), env: { SESSION_MAX_AGE: '4m' } });
    expect((await shown(`${name}-c`)).sessionMaxAge).toBe(300);
  });

  it('tests another client id, and warns that subjects may differ', async () => {
    const name = await aProvider();
    expect(await run(['change', name, '--client-id', 'unknown'])).toEqual(
      failure(1, /\(provider_test_failed\)\n$/),
    );
    const { stdout } = await run(['change', name, '--client-id', 'unknown', '--force']);
    expect(stdout).toContain('another subject for another client');
    expect((await shown(name)).clientId).toBe('unknown');
  });

  it('keeps the subject claim once a user is linked', async () => {
    const name = await aProvider('--subject-claim', 'oid');
    await runJson(['change', name, '--subject-claim', 'sub']);
    await runJson(['link', name, (await anAccount(service)).email, '--subject', 'a']);
    expect(await run(['change', name, '--subject-claim', 'oid'])).toEqual(
      failure(1, /^refused: .*\(subject_claim_used\)\n$/),
    );
  });

  it('prints whose logins it stops where it requires the provider', async () => {
    const domain = 'required.example';
    const [linked] = await Promise.all(
      ['a', 'b', 'c'].map((part) => anAccountOf(service, `${part}@${domain}`)),
    );
    const name = await aProvider('--domains', domain);
    await runJson(['link', name, linked!.email, '--subject', 'a']);
    const { stdout } = await run(['change', name, '--required', 'on']);
    expect(stdout.split('\n')).toEqual([
      `${name}: changed required`,
      `2 users of ${domain} are not linked, and can no longer log in by password`,
      expect.stringMatching(/^--create-users is off: /),
      '',
    ]);
    expect((await run(['list'])).stdout).toMatch(new RegExp(`^${name} +\\S+  ${domain}  REQUIRED$`, 'm'));
    expect((await run(['show', name])).stdout).toMatch(/^sessionMaxAge {6}24h$/m);
  });

  it('shows damaged settings as such, beside providers whose settings it can read', async () => {
    const [name, sound] = [await aProvider(), await aProvider()];
    await db.query('UPDATE providers SET settings = ? WHERE name = ?', ['{"createUsers"', name]);
    const { stdout } = await run(['list']);
    expect(stdout).toMatch(new RegExp(`^${name} .*  DAMAGED$`, 'm'));
    expect(stdout).toMatch(new RegExp(`^${sound} .*  -$`, 'm'));
    expect(await shown(name)).toMatchObject({ name, createUsers: false, damaged: true });
    await db.query('UPDATE providers SET settings = ? WHERE name = ?', ['{}', name]);
  });
});

describe('the users of a provider', () => {
  it('are linked once, and lose every session when they are unlinked', async () => {
    const [name, ada, grace] = [await aProvider(), await anAccount(service, 'ada'), await anAccount(service)];
    await db.query('UPDATE users SET email_verified_at = 1 WHERE id = ?', [ada.id]);
    const known = await knownEvents(db);
    const subject = 'Sub  1 ';

    const [first] = await runJson(['link', name, ada.email, '--subject', subject], WITH_MAIL);
    const [again] = await runJson(['link', name, ada.id, '--subject', subject]);

    expect(first).toEqual({ name, id: ada.id, email: ada.email, subject, changed: true });
    expect(again).toMatchObject({ changed: false });
    expect(await run(['link', name, ada.email, '--subject', 'other'])).toEqual(
      failure(1, /\(identity_taken\)\n$/),
    );
    expect(await run(['link', name, grace.email, '--subject', subject])).toEqual(
      failure(1, /\(identity_taken\)\n$/),
    );
    await runJson(['link', name, grace.email, '--subject', subject.toLowerCase()]);
    const mails = await db.query('SELECT kind, details FROM mails WHERE sender_id = ?', [ada.id]);
    expect(mails).toContainEqual({ kind: 'identity_linked', details: JSON.stringify({ provider: name }) });

    await runJson(['unlink', name, ada.email]);
    expect([await isSignedIn(ada), await isSignedIn(grace)]).toEqual([false, true]);
    expect(await run(['unlink', name, ada.email])).toEqual(failure(1, /\(not_linked\)\n$/));
    expect((await shown(name)).users).toBe(1);
    const common = { actor_id: 'root', reason: 'a test' };
    const linking = { type: 'account.identity_linked', data: { provider: name, via: 'operator' } };
    expect(await eventsSince(db, known)).toMatchObject([
      { ...common, ...linking, user_id: ada.id },
      { ...common, ...linking, user_id: grace.id },
      { ...common, type: 'account.identity_unlinked', user_id: ada.id, data: { provider: name } },
      { ...common, type: 'session.ended', user_id: ada.id, data: { reason: 'operator', all: true } },
    ]);
  });

  it.each(['', 'a'.repeat(256)])('have no subject such as %j', async (subject) => {
    const { email } = await anAccount(service);
    expect(await run(['link', 'first', email, '--subject', subject])).toMatchObject({ code: 2 });
  });

  it('are logged out with --end-sessions only, also if the provider is disabled already', async () => {
    const [name, ada] = [await aProvider(), await anAccount(service, 'ada')];
    await runJson(['link', name, ada.email, '--subject', 'a']);
    expect(await runJson(['disable', name])).toEqual([{ name, changed: true }]);
    expect(await isSignedIn(ada)).toBe(true);
    const known = await knownEvents(db);
    expect(await runJson(['disable', name, '--end-sessions'])).toEqual([
      { name, changed: false, usersEnded: 1 },
    ]);
    expect(await isSignedIn(ada)).toBe(false);
    expect(await eventsSince(db, known)).toMatchObject([{ type: 'session.ended', user_id: ada.id }]);

    const secret = provider.secret;
    expect(secret).not.toBe('');
    expect(await runJson(['enable', name])).toEqual([{ name, changed: true }]);
    expect(await runJson(['enable', name])).toEqual([{ name, changed: false }]);
  });

  it('are logged out and unlinked in pages', async () => {
    const name = await aProvider();
    const [row] = await db.query('SELECT id FROM providers WHERE name = ?', [name]);
    const users = times(201, () => ({ id: anUnknownId() }));
    await insertRows(db, 'users', users);
    const identities = users.map(({ id }) => ({ user_id: id }));
    await insertRows(db, 'identities', identities, { provider_id: String(row!['id']) });

    expect(await runJson(['disable', name, '--end-sessions'])).toMatchObject([{ usersEnded: 201 }]);
    const left = `SELECT u.id FROM users u JOIN identities i ON i.user_id = u.id
      WHERE i.provider_id = ? AND u.auth_epoch = 0`;
    expect(await db.query(left, [String(row!['id'])])).toEqual([]);
    await runJson(['remove', name]);
    const sql = 'SELECT user_id FROM identities WHERE provider_id = ?';
    expect(await db.query(sql, [String(row!['id'])])).toEqual([]);
  });

  it('are free again when the provider is removed, and so is its name', async () => {
    const [ada, grace] = [await anAccount(service, 'ada'), await anAccount(service)];
    const name = await aProvider('--domains', 'gone.example');
    for (const { email, id } of [ada, grace]) await runJson(['link', name, email, '--subject', id]);
    const [row] = await db.query('SELECT id FROM providers WHERE name = ?', [name]);
    const id = String(row!['id']);
    const login = {
      hash: 'a',
      provider_id: id,
      subject: 'a',
      email_verified: 0,
      created_at: 1,
      expires_at: 1,
    };
    await insertRow(db, 'provider_logins', login);
    await db.query("UPDATE users SET password_hash = '!' WHERE id = ?", [grace.id]);
    const known = await knownEvents(db);

    expect(await run(['remove', name])).toEqual(
      failure(1, /^refused: 1 users of .* have no password, .*--force \(users_without_password\)\n$/),
    );
    expect(await eventsSince(db, known)).toEqual([]);
    const removed = { name, changed: true, withoutPassword: 1 };
    expect(await runJson(['remove', name, '--force', '--end-sessions'])).toEqual([
      { ...removed, usersEnded: 2 },
    ]);

    expect([await isSignedIn(ada), await isSignedIn(grace)]).toEqual([false, false]);
    expect(JSON.stringify(await allRows(db))).not.toContain(id);
    expect((await eventsSince(db, known)).map(({ type }) => type)).toEqual([
      'provider.disabled',
      'provider.removed',
      'session.ended',
      'session.ended',
    ]);
    expect(await run(['show', name])).toMatchObject({ code: 2 });
    await runJson(['add', name, ...at(), '--domains', 'gone.example'], theSecret());
    expect((await shown(name)).users).toBe(0);
  });
});
