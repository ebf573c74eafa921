import { once } from 'node:events';
import { open, writeFile } from 'node:fs/promises';
import { join as pathOf, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { unknownPasswordHash } from '../../src/auth/passwords/hash-engines.js';
import { parseEnv } from '../../src/config/env.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { accounts, BY_ROOT, failure, spawnAccounts } from '../support/accounts-command.js';
import { engine } from '../support/engine.js';
import { emailTaken, invalidCredentials } from '../support/expected.js';
import { anAccount, aPassword, type Session } from '../support/personas.js';
import { CHEAP_HASHES } from '../support/service-process.js';
import { startOwnService } from '../support/service.js';

/** Written after the documentation of the other systems, not exported by them: see the README there. */
const EXPORTS = resolve(import.meta.dirname, 'exports');
const FIREBASE = ['--format', 'firebase', '--hash-config', pathOf(EXPORTS, 'firebase-hash-config.txt')];

const PASSWORD = 'correct horse';
const BCRYPT = '$2y$04$7SinNdq8UJINIhJBZ8ZG4u9lUUIdSiE0geS98hBC1iVqs9cMiZvqG';
/** of 72 times x */
const BCRYPT_OF_72 = '$2a$04$sFiGSK7On/2RheaSPPC2NOtvVbGnzuC5e/s2n404X9cZI.u6BtTRy';
const ID = '9B2E6C1F-03D4-4f6a-8c15-5d0e7a3b92c4';

const HEADER = 'email,passwordHash,emailVerified,name';

/** More memory than Keycloak's argon2id, whose hashes are replaced, too. */
const LIMITS = { RATE_LIMIT_REGISTER: 'off', RATE_LIMIT_LOGIN: 'off' };
const service = await startOwnService({ env: { ...LIMITS, ARGON2_MEMORY_KIB: '8192' } });
const { installation } = service;
afterAll(() => service.stop());

const login = (email: string, password: string) =>
  service.anyone.post<Session>('/api/auth/login', { email, password });
const countOf = async (sql: string, ...values: string[]): Promise<number> =>
  Number((await service.db.query(`SELECT COUNT(*) AS rows_found FROM ${sql}`, values))[0]!['rows_found']);
const pathIn = (name: string): string => pathOf(installation.directory, name);

async function hashOf(email: string): Promise<string> {
  const [row] = await service.db.query('SELECT password_hash AS hash FROM users WHERE email = ?', [email]);
  return String(row!['hash']);
}

async function importing(parameters: string[], input = '') {
  const by = ['--as', 'root', '--reason', 'moved', '--json'];
  const command = ['users', 'import', ...parameters, ...by];
  const { code, stdout, stderr } = await accounts(installation, command, { input });
  expect(stderr).toBe('');
  const lines = stdout.trimEnd().split('\n');
  const results = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  return { code, stdout, refused: results.slice(0, -1), summary: results.at(-1) };
}

describe('accounts users import of JSONL', async () => {
  const GRACE = { name: ' Grace Hopper', avatarUrl: null, locale: 'en-us' };
  const native = await anAccount(service, 'native');
  const argon2id = await hashOf(native.email);

  const rows = (): string[] => [
    JSON.stringify({ email: 'Ada@Imported.example', passwordHash: BCRYPT, emailVerified: true, id: ID }),
    JSON.stringify({ email: 'grace@imported.example', passwordHash: argon2id, ...GRACE }),
    '',
    JSON.stringify({ email: 'long@imported.example', passwordHash: BCRYPT_OF_72, emailVerified: false }),
    '{"email":',
    JSON.stringify({ email: 'role@imported.example', passwordHash: BCRYPT, role: 'owner' }),
    JSON.stringify({ email: native.email, passwordHash: BCRYPT }),
    JSON.stringify({ email: 'id@imported.example', passwordHash: BCRYPT, id: native.id }),
    JSON.stringify({ email: 'ada@imported.example', passwordHash: BCRYPT, id: native.id }),
    JSON.stringify({ email: 'grace@imported.example', passwordHash: argon2id }),
    JSON.stringify({ email: 'md5@imported.example', passwordHash: '5f4dcc3b5aa765d61d8327deb882cf99' }),
    JSON.stringify({ email: 'far@imported.example', passwordHash: BCRYPT, x: 'x'.repeat(70_000) }),
    JSON.stringify({ email: 'name@imported.example', passwordHash: BCRYPT, name: 'A\nB' }),
  ];
  const REFUSED = [
    [5, 'invalid_json'],
    [6, 'unknown_field'],
    [7, 'email_taken'],
    [8, 'id_taken'],
    [9, 'email_taken'],
    [11, 'invalid_hash'],
    [12, 'line_too_long'],
    [13, 'invalid_name'],
  ];

  const NAMED = [
    undefined,
    'role@imported.example',
    native.email,
    'id@imported.example',
    'ada@imported.example',
    'md5@imported.example',
    undefined,
    'name@imported.example',
  ];

  it('takes over what it can, shows each refused row, and can be run again', async () => {
    const file = pathOf(installation.directory, 'users.jsonl');
    await writeFile(file, `\ufeff${rows().join('\r\n')}`);

    const first = await importing([file]);

    expect(first.refused.map(({ line, refused }) => [line, refused])).toEqual(REFUSED);
    expect([first.code, first.summary]).toEqual([1, { imported: 3, skipped: 1, refused: 8 }]);
    expect(first.stdout).not.toMatch(/\$2|argon2id\$|5f4dcc3b/);
    expect(first.refused.map(({ email }) => email)).toEqual(NAMED);
    const imported = await service.db.query(
      `SELECT id, email, email_verified_at IS NOT NULL AS verified, revision, name, avatar_url, locale FROM users
        WHERE email LIKE '%@imported.example' ORDER BY email`,
    );
    const noProfile = { name: null, avatar_url: null, locale: null };
    const unverified = { id: expect.any(String) as string, verified: 0, revision: 1 };
    expect(imported).toEqual([
      { id: ID.toLowerCase(), email: 'ada@imported.example', verified: 1, revision: 1, ...noProfile },
      { ...unverified, ...noProfile, email: 'grace@imported.example', name: 'Grace Hopper', locale: 'en-US' },
      { ...unverified, ...noProfile, email: 'long@imported.example' },
    ]);
    const sql = "SELECT type, actor_id, user_revision, data, reason FROM events WHERE reason = 'moved'";
    const events = await service.db.query(sql);
    const registered = { type: 'account.registered', actor_id: 'root', user_revision: 1, reason: 'moved' };
    expect(events).toHaveLength(3);
    for (const one of events) expect(one).toEqual({ ...registered, data: '{"via":"import"}' });

    const second = await importing(['-'], rows().join('\n'));
    expect(second.refused).toEqual(first.refused);
    expect(second.summary).toEqual({ imported: 0, skipped: 4, refused: 8 });
  });

  it('lets people log in with the password that they had, and replaces a bcrypt hash', async () => {
    const email = 'ada@imported.example';
    expect(await login(email, `${PASSWORD}!`)).toMatchObject(invalidCredentials);
    expect(await hashOf(email)).toBe(BCRYPT);

    const { body } = await login(email, PASSWORD);

    const me = await service.anyone.withToken(body.token).get('/api/me');
    expect(me.body).toMatchObject({ user: { id: ID.toLowerCase(), email } });
    expect(await hashOf(email)).toMatch(/^\$argon2id\$/);
    expect((await login(email, PASSWORD)).status).toBe(200);
    expect((await login('grace@imported.example', native.password)).status).toBe(200);
    const registration = { email, password: aPassword() };
    expect(await service.anyone.post('/api/auth/register', registration)).toMatchObject(emailTaken);
  });

  it('does not bring back who was deleted', async () => {
    expect((await accounts(installation, ['users', 'delete', 'ada@imported.example'])).code).toBe(0);
    const { code, refused } = await importing(['-'], rows()[0]);
    expect([code, refused]).toMatchObject([1, [{ line: 1, refused: 'id_deleted' }]]);
  });

  it('verifies what bcrypt read of a long password once, and from then on all of it', async () => {
    const email = 'long@imported.example';
    const whole = `${'x'.repeat(72)} and more`;
    expect(await login(email, 'x'.repeat(71))).toMatchObject(invalidCredentials);
    expect((await login(email, whole)).status).toBe(200);
    expect(await login(email, 'x'.repeat(72))).toMatchObject(invalidCredentials);
    expect((await login(email, whole)).status).toBe(200);
  });

  it('that is killed has imported whole batches, and goes on when it is run again', async () => {
    const users = Array.from({ length: 4000 }, (_, index) =>
      JSON.stringify({ email: `u${index}@killed.example`, passwordHash: BCRYPT }),
    );
    const IMPORTED = "users WHERE email LIKE '%@killed.example'";
    const ofOneEvent = `${IMPORTED} AND (SELECT COUNT(*) FROM events WHERE user_id = users.id) = 1`;
    const command = spawnAccounts(installation, ['users', 'import', '-']);
    command.stdin.on('error', () => undefined).write(`${users.slice(0, 3000).join('\n')}\n`);
    await waitFor('some rows are there', hangTimeoutMs(), async () => (await countOf(IMPORTED)) > 0);
    command.kill('SIGKILL');
    await once(command, 'close');
    const before = await countOf(IMPORTED);
    expect(before % 100).toBe(0);

    const { code, summary } = await importing(['-'], users.join('\n'));

    expect([code, summary]).toEqual([0, { imported: 4000 - before, skipped: before, refused: 0 }]);
    expect([await countOf(IMPORTED), await countOf(ofOneEvent)]).toEqual([4000, 4000]);
  });
});

describe('accounts users import of an export', () => {
  const stateOf = (domain: string) =>
    service.db.query(
      `SELECT email, name, avatar_url, locale, email_verified_at IS NOT NULL AS verified, revision,
        disabled_at IS NOT NULL AS disabled, disabled_email FROM users WHERE email LIKE ? ORDER BY email`,
      [`%@${domain}`],
    );
  const ENABLED = { verified: 1, revision: 1, disabled: 0, disabled_email: null };
  const user = (email: string, more: object = {}) => ({
    ...ENABLED,
    email,
    name: null,
    avatar_url: null,
    locale: null,
    ...more,
  });
  const disabled = (email: string) => ({ revision: 2, disabled: 1, disabled_email: email });

  it('reads Auth0’s export of password hashes', async () => {
    const file = pathOf(EXPORTS, 'auth0-password-hashes.ndjson');
    const { code, summary } = await importing([file, '--format', 'auth0']);
    expect([code, summary]).toEqual([0, { imported: 2, skipped: 0, refused: 0 }]);
    expect(await stateOf('auth0.example')).toEqual([
      user('bcrypt@auth0.example'),
      user('identifier@auth0.example', { verified: 0 }),
    ]);
  });

  it('reads Auth0’s schema of imports', async () => {
    const file = pathOf(EXPORTS, 'auth0-users.json');
    const { code, summary, refused } = await importing([file, '--format', 'auth0']);
    const leftOut = { 'fields of metadata': 2 };
    expect([code, summary]).toEqual([1, { imported: 4, skipped: 0, refused: 1, leftOut }]);
    expect(refused).toMatchObject([{ user: 5, refused: 'invalid_hash', field: 'passwordHash' }]);
    const avatar = {
      name: 'Ada Lovelace',
      avatar_url: 'https://cdn.auth0.example/avatars/al.png',
      verified: 0,
    };
    expect(
      (await stateOf('auth0.example')).filter(({ email }) => !/^(?:bcrypt|id)/.test(String(email))),
    ).toEqual([
      user('blocked@auth0.example', disabled('blocked@auth0.example')),
      user('pbkdf2@auth0.example', avatar),
      user('scrypt@auth0.example'),
      user('social@auth0.example', { locale: 'de-AT' }),
    ]);
  });

  it('reads Firebase’s export, and keeps no signer key', async () => {
    const file = pathOf(EXPORTS, 'firebase-users.json');
    const { code, summary, refused } = await importing([file, ...FIREBASE]);
    const leftOut = { 'custom claims': 1 };
    expect([code, summary]).toEqual([1, { imported: 3, skipped: 0, refused: 1, leftOut }]);
    expect(refused).toMatchObject([{ user: 4, refused: 'invalid_email', field: 'email' }]);
    const avatar_url = 'https://lh3.googleusercontent.example/a.jpg';
    expect(await stateOf('firebase.example')).toEqual([
      user('disabled@firebase.example', disabled('disabled@firebase.example')),
      user('google@firebase.example', { name: 'No Password' }),
      user('user1@firebase.example', { name: 'User One', avatar_url }),
    ]);
    expect(await hashOf('user1@firebase.example')).toMatch(/^\$firebase-scrypt\$ln=14,r=8,p=1\$/);
    const again = await importing([file, ...FIREBASE]);
    expect(again.summary).toEqual({ imported: 0, skipped: 3, refused: 1 });
  });

  it('reads Keycloak’s export of a realm', async () => {
    const file = pathOf(EXPORTS, 'keycloak-realm.json');
    const { code, summary } = await importing([file, '--format', 'keycloak']);
    const leftOut = { attributes: 1, usernames: 5, 'logins with another provider': 1 };
    const counts = { imported: 5, skipped: 0, refused: 0, secondFactors: 1, leftOut };
    expect([code, summary]).toEqual([0, counts]);
    expect(await stateOf('keycloak.example')).toEqual([
      user('argon2@keycloak.example', { name: 'Jane Doe', locale: 'de', revision: 2 }),
      user('disabled@keycloak.example', { name: 'Joan Clarke', ...disabled('disabled@keycloak.example') }),
      user('federated@keycloak.example', { name: 'Mary Jackson' }),
      user('sha256@keycloak.example', { name: 'Ada Lovelace' }),
      user('sha512@keycloak.example', { name: 'Grace Hopper', verified: 0 }),
    ]);
    const [{ id } = {}] = await service.db.query(
      "SELECT id FROM users WHERE email = 'sha256@keycloak.example'",
    );
    expect(id).toBe('8a6b5c4d-3e2f-4a1b-9c8d-7e6f5a4b3c2d');
  });

  it.each([
    ['bcrypt@auth0.example', '$2b$10$', PASSWORD],
    ['identifier@auth0.example', '$2b$10$', PASSWORD],
    ['pbkdf2@auth0.example', '$pbkdf2-sha256$i=10000,l=32$', 'Test@123'],
    ['scrypt@auth0.example', '$scrypt$ln=14,r=8,p=1$', PASSWORD],
    ['user1@firebase.example', '$firebase-scrypt$ln=14,r=8,p=1$', 'user1password'],
    ['argon2@keycloak.example', '$argon2id$v=19$m=7168,t=5,p=1$', 'secret'],
    ['sha256@keycloak.example', '$pbkdf2-sha256$i=27500$', PASSWORD],
    ['sha512@keycloak.example', '$pbkdf2-sha512$i=210000$', PASSWORD],
  ])('lets %s log in with the old password, once by %s', async (email, kind, password) => {
    const before = await hashOf(email);
    expect(before.slice(0, kind.length)).toBe(kind);
    expect(await login(email, `${password}!`)).toMatchObject(invalidCredentials);
    expect(await hashOf(email)).toBe(before);
    // Keycloak asked this user for a code, and so does Accounts.
    const status = email === 'argon2@keycloak.example' ? 403 : 200;
    expect((await login(email, password)).status).toBe(status);
    expect(await hashOf(email)).not.toBe(before);
    expect(await hashOf(email)).toMatch(/^\$argon2id\$v=19\$m=\d+,t=\d+,p=\d+\$/);
    expect((await login(email, password)).status).toBe(status);
  });

  it.each([
    ['blocked@auth0.example', PASSWORD],
    ['disabled@firebase.example', 'user1password'],
    ['disabled@keycloak.example', PASSWORD],
  ])('lets %s log in only when an operator has enabled the user', async (email, password) => {
    expect(await login(email, password)).toMatchObject({ status: 403, body: { code: 'account_disabled' } });
    const events = await service.db.query(
      `SELECT type, user_revision FROM events WHERE user_id = (SELECT id FROM users WHERE email = ?) ORDER BY user_revision`,
      [email],
    );
    expect(events).toEqual([
      { type: 'account.registered', user_revision: 1 },
      { type: 'account.disabled', user_revision: 2 },
    ]);
    expect((await accounts(installation, ['users', 'enable', email, ...BY_ROOT])).code).toBe(0);
    expect((await login(email, password)).status).toBe(200);
  });

  it('gives nobody a password who had none, but a reset', async () => {
    const email = 'federated@keycloak.example';
    expect(await hashOf(email)).toBe('!');
    for (const password of ['', '!', PASSWORD, `no password: ${email}`])
      expect((await login(email, password)).status).not.toBe(200);
    const reset = await accounts(installation, ['users', 'reset-code', email, ...BY_ROOT]);
    const code = /[0-9A-Z]{5}-[0-9A-Z]{5}/.exec(reset.stdout)![0];
    const newPassword = aPassword();
    const body = { email, code, newPassword };
    expect((await service.anyone.post('/api/auth/password/reset', body)).status).toBe(200);
    expect((await login(email, newPassword)).status).toBe(200);
  });

  it('finds the users without a password again, also those whom 0.3 imported', async () => {
    const rows = ['new', 'old', 'changed']
      .map((name) => JSON.stringify({ email: `${name}@none.example`, passwordHash: null }))
      .join('\n');
    expect((await importing(['-'], rows)).summary).toEqual({ imported: 3, skipped: 0, refused: 0 });
    const { argon2 } = parseEnv(CHEAP_HASHES);
    const madeUp = unknownPasswordHash(argon2, 'no password: old@none.example');
    const update = 'UPDATE users SET password_hash = ? WHERE email = ?';
    await service.db.query(update, [madeUp, 'old@none.example']);
    await service.db.query(update, [madeUp, 'changed@none.example']);
    const { refused, summary } = await importing(['-'], rows);
    expect(summary).toEqual({ imported: 0, skipped: 2, refused: 1 });
    expect(refused).toMatchObject([{ line: 3, refused: 'email_taken' }]);
    expect(await hashOf('old@none.example')).toBe(madeUp);
  });

  it('passes the checks of the doctor', async () => {
    expect(await accounts(installation, ['doctor'])).toMatchObject({ code: 0 });
  });
});

describe('accounts users import of CSV', () => {
  const LINES = engine === 'sqlite' ? 100_000 : 20_000;
  const WRONG = 0.7 * LINES;

  it(`checks ${LINES} lines without a change, imports all or none, and names the wrong line`, async () => {
    const large = pathIn('large.csv');
    const rows = Array.from(
      { length: LINES },
      (_, index) => `u${index}@large.example,${BCRYPT},true,"=1+${index}"`,
    );
    rows[WRONG] = `u${WRONG}@large.example,${BCRYPT},yes,`;
    await writeFile(large, `\ufeff${[HEADER, ...rows].join('\r\n')}\r\n`);
    const wrong = { line: WRONG + 2, refused: 'invalid_email_verified', field: 'emailVerified' };
    const csv = [large, '--format', 'csv'];

    const dry = await importing([...csv, '--dry-run']);
    expect(dry).toMatchObject({ code: 1, refused: [wrong] });
    expect(dry.summary).toEqual({ imported: LINES - 1, skipped: 0, refused: 1, dryRun: true });
    const none = await importing([...csv, '--all-or-nothing']);
    expect(none).toMatchObject({ code: 1, refused: [wrong] });
    expect(none.summary).toEqual({ imported: 0, skipped: 0, refused: 1 });
    expect(await countOf("users WHERE email LIKE '%@large.example'")).toBe(0);

    const rest = await importing(csv);
    expect(rest).toMatchObject({ code: 1, refused: [wrong] });
    expect(rest.summary).toEqual({ imported: LINES - 1, skipped: 0, refused: 1 });
    expect(await countOf("users WHERE email LIKE '%@large.example'")).toBe(LINES - 1);
    expect(await countOf("users WHERE email LIKE '%@large.example' AND name LIKE '=1+%'")).toBe(LINES - 1);
    expect((await login(`u${LINES - 1}@large.example`, PASSWORD)).status).toBe(200);
  });

  it('imports all lines at once if none is wrong, and finds two of one email far apart', async () => {
    const rows = Array.from({ length: 1200 }, (_, index) => `u${index}@all.example,${BCRYPT},,`);
    const twice = [HEADER, ...rows, `u3@all.example,${BCRYPT_OF_72},,`].join('\n');
    const taken = { line: 1202, refused: 'email_taken' };
    for (const option of ['--dry-run', '--all-or-nothing']) {
      const { code, refused } = await importing(['-', '--format', 'csv', option], twice);
      expect([code, refused]).toMatchObject([1, [taken]]);
    }
    expect(await countOf("users WHERE email LIKE '%@all.example'")).toBe(0);

    const all = ['-', '--format', 'csv', '--all-or-nothing'];
    const { code, summary } = await importing(all, [HEADER, ...rows].join('\n'));
    expect([code, summary]).toEqual([0, { imported: 1200, skipped: 0, refused: 0 }]);
    const again = await importing(all, [HEADER, ...rows].join('\n'));
    expect([again.code, again.summary]).toEqual([0, { imported: 0, skipped: 1200, refused: 0 }]);
  });
});

/** They send no statement, or none that others do not. */
describe.runIf(engine === 'sqlite')('accounts users import', () => {
  it.each([['/nowhere/users.jsonl'], ['.']])('ends with 2 and one line for a file like %s', async (file) => {
    expect(await accounts(installation, ['users', 'import', file])).toEqual(
      failure(2, /^error: the file cannot be read: [^\n]+\n$/),
    );
  });

  it.each([
    [['--format', 'firebase'], /^error: --hash-config is required with firebase\n$/],
    [['--format', 'csv', ...FIREBASE.slice(2)], /^error: --hash-config is unknown with csv\n$/],
    [['--format', 'xml'], /^error: --format: expected one of csv, jsonl, auth0, firebase, keycloak\n$/],
    [['--format', 'firebase', '--hash-config', '/nowhere'], /^error: the file cannot be read: [^\n]+\n$/],
    [
      ['--format', 'firebase', '--hash-config', pathOf(EXPORTS, 'README.md')],
      /^error: --hash-config: algorithm must be SCRYPT\n$/,
    ],
  ])('ends with 2 and one line for the options %j', async (options, error) => {
    expect(await accounts(installation, ['users', 'import', '-', ...options, ...BY_ROOT])).toEqual(
      failure(2, error),
    );
  });

  it('ends with 2 for a document of more than 256 MiB, before it imports anybody', async () => {
    const file = await open(pathIn('large.json'), 'w');
    await file.write('[{"email":"large@imported.example"},');
    await file.truncate(257 * 2 ** 20);
    await file.close();
    const command = ['users', 'import', pathIn('large.json'), '--format', 'auth0'];
    const { code, stderr } = await accounts(installation, [...command, ...BY_ROOT]);
    expect([code, stderr]).toEqual([
      2,
      'error: the document is larger than 256 MiB: split it, or give one user a line\n',
    ]);
    expect(await countOf("users WHERE email = 'large@imported.example'")).toBe(0);
  });

  it.each([
    ['jsonl', ''],
    ['jsonl', '\n \n'],
    ['csv', ''],
    ['csv', `${HEADER}\n`],
    ['auth0', '[]'],
    ['keycloak', '{"users":[]}'],
  ])('ends with 2 if the file has no users: %s %j', async (format, input) => {
    for (const option of [[], ['--dry-run'], ['--all-or-nothing']]) {
      const command = ['users', 'import', '-', '--format', format, ...option, ...BY_ROOT];
      const expected = failure(2, /^error: the file has no users\n$/);
      expect(await accounts(installation, command, { input })).toEqual(expected);
    }
  });

  it('prints what a person reads', async () => {
    const input = `${HEADER}\nada@person.example,$pbkdf2-sha256$i=9000000$AAAA$${'A'.repeat(43)},,\n`;
    const command = ['users', 'import', '-', '--format', 'csv', '--dry-run', ...BY_ROOT];
    const { stdout } = await accounts(installation, command, { input });
    expect(stdout).toMatch(
      /^line 2, ada@person\.example: passwordHash would take more than [^\n]+ \(hash_too_costly\)\ndry run: would have imported 0, skipped 0 that already exist, refused 1\n$/,
    );
  });

  it.each([
    ['mail;passwordHash\n', /^error: the first line has no column email, between commas or semicolons\n$/],
    ['email,passwordHash,role\n', /^error: the first line: role is no field of this format\n$/],
  ])('ends with 2 if the header is wrong: %j', async (input, error) => {
    const command = ['users', 'import', '-', '--format', 'csv', ...BY_ROOT];
    const { code, stderr } = await accounts(installation, command, { input });
    expect(code).toBe(2);
    expect(stderr).toMatch(error);
  });
});
