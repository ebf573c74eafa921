import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join as pathOf, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { base32, codeOfStep, stepAt } from '../../src/auth/second-factor/codes.js';
import { accounts, BY_ROOT, CLI, failure } from '../support/accounts-command.js';
import { AuthenticatorApp, SECOND_FACTOR, secondStep } from '../support/second-factor.js';
import { startOwnService } from '../support/service.js';

const EXPORTS = resolve(import.meta.dirname, 'exports');
const FIREBASE = ['--format', 'firebase', '--hash-config', pathOf(EXPORTS, 'firebase-hash-config.txt')];
const PASSWORD = 'correct horse';
const SALT = 'MDEyMzQ1Njc4OWFiY2RlZg==';
const DERIVED = 'H5R9LZ0QvKxHLm1Lg0IeQXdtUAa+9gf2NeOZns+WHBTpnlaWE/+JwnJ/2OXEjNPW5EusP1xxGLqEqjWDbIcGlg==';

const service = await startOwnService({ env: { RATE_LIMIT_LOGIN: 'off' } });
const { installation } = service;
afterAll(() => service.stop());

const importing = async (input: string, ...parameters: string[]) => {
  const command = ['users', 'import', '-', ...parameters, ...BY_ROOT];
  const { code, stdout, stderr } = await accounts(installation, command, { input });
  expect(stderr).toBe('');
  return { code, lines: stdout.trimEnd().split('\n') };
};
const importingFile = async (name: string, ...parameters: string[]) => {
  const command = ['users', 'import', pathOf(EXPORTS, name), '--dry-run', ...parameters, ...BY_ROOT];
  const json = await accounts(installation, [...command, '--json']);
  const text = await accounts(installation, command);
  const summary = JSON.parse(json.stdout.trimEnd().split('\n').at(-1)!) as { leftOut?: object };
  return { lines: text.stdout.trimEnd().split('\n'), summary };
};

const credential = (type: string, secretData: object, credentialData: object) => ({
  type,
  secretData: JSON.stringify(secretData),
  credentialData: JSON.stringify(credentialData),
});
const password = credential(
  'password',
  { value: DERIVED, salt: SALT },
  { hashIterations: 27_500, algorithm: 'pbkdf2-sha256' },
);
const otp = (value: string, change: object = {}) =>
  credential('otp', { value }, { subType: 'totp', digits: 6, period: 30, algorithm: 'HmacSHA1', ...change });
const userOf = (name: string, ...factors: object[]) => ({
  username: `${name}@realm.example`,
  email: `${name}@realm.example`,
  emailVerified: true,
  credentials: [password, ...factors],
});

/** Bytes as an authenticator app knows them, which reads base32. */
const appOf = (secret: string): AuthenticatorApp => new AuthenticatorApp(base32(Buffer.from(secret)));

const SECRETS = {
  short: 'ab3DE6gh9JK2mn5PQ8s',
  usual: 'AH3yQ8fRk2LmN7pXc0Vb',
  long: 'Zq7'.repeat(66) + 'xy',
};
const BASE32 = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
const USERS = [
  ...Object.entries(SECRETS).map(([name, secret]) => userOf(name, otp(secret))),
  userOf('base32', otp(BASE32, { secretEncoding: 'BASE32' })),
  userOf('two', otp(SECRETS.usual), otp(SECRETS.short)),
  userOf('sha256', otp(SECRETS.usual, { algorithm: 'HmacSHA256' })),
  userOf('sha256-too', otp(SECRETS.usual, { algorithm: 'HmacSHA256' })),
  userOf('tiny', otp('x')),
  { ...userOf('groups'), groups: ['/staff', '/admins'], realmRoles: ['default-roles-x', 'admin'] },
  { ...userOf('orphan'), email: 'no email', groups: ['/not counted'] },
];
const REALM = JSON.stringify({ users: USERS });
const REFUSED = 'user 10, orphan@realm.example: email is not an email address (invalid_email)';
const LEFT_OUT =
  '5 second factors imported, 1 not (another app), 2 not (SHA-256), 1 not (shorter than 10 bytes); ' +
  '2 memberships of groups not imported; 1 role not imported';

describe('an import of Keycloak’s second factors', () => {
  it('needs the key file, even for a dry run', async () => {
    const env = { JWT_KEYS_FILE: pathOf(installation.directory, 'nowhere.json') };
    for (const option of [[], ['--dry-run']]) {
      const command = ['users', 'import', '-', '--format', 'keycloak', ...option, ...BY_ROOT];
      const { code, stderr } = await accounts(installation, command, { input: REALM, env });
      expect([code, stderr]).toEqual([
        2,
        expect.stringMatching(/^JWT_KEYS_FILE: there is no file [^\n]+\n$/),
      ]);
    }
    const users = "SELECT COUNT(*) AS found FROM users WHERE email LIKE '%@realm.example'";
    expect(Number((await service.db.query(users))[0]!['found'])).toBe(0);
  });

  it('says in the dry run and in the result what it left out, and names who is refused', async () => {
    for (const [option, prefix] of [
      [['--dry-run'], 'dry run: would have '],
      [['--all-or-nothing', '--dry-run'], 'dry run: would have '],
      [[], ''],
    ] as const) {
      const { code, lines } = await importing(REALM, '--format', 'keycloak', ...option);
      const counts = 'imported 9, skipped 0 that already exist, refused 1';
      expect([code, lines]).toEqual([1, [REFUSED, prefix + counts, LEFT_OUT]]);
    }
    const again = await importing(REALM, '--format', 'keycloak');
    expect(again.lines).toEqual([REFUSED, 'imported 0, skipped 9 that already exist, refused 1']);
  });

  let used = 0;
  const longCode = (stepsLater: number): string =>
    codeOfStep(Buffer.from(SECRETS.long), stepAt(Date.now()) + stepsLater);

  it.each([
    ['short', appOf(SECRETS.short)],
    ['usual', appOf(SECRETS.usual)],
    // otplib refuses more than 64 bytes.
    [
      'long',
      {
        wrong: (): string => longCode(100),
        next: (): string => longCode(used++),
      },
    ],
    ['base32', new AuthenticatorApp(BASE32)],
    ['two', appOf(SECRETS.usual)],
  ])('asks %s for a code, which the old app shows', async (name, app) => {
    const credentials = { email: `${name}@realm.example`, password: PASSWORD };
    const first = await service.anyone.post<{ challenge: string }>('/api/auth/login', credentials);
    expect([first.status, first.body]).toMatchObject([403, { code: 'second_factor_required' }]);
    expect((await secondStep(service, first.body.challenge, app.wrong())).status).toBe(400);
    const { status, body } = await secondStep(service, first.body.challenge, app.next());
    expect(status).toBe(200);

    const by = service.anyone.withToken(body.token);
    expect((await by.get(SECOND_FACTOR)).body).toMatchObject({ recoveryCodesLeft: 0 });
    const renewed = await by.post(`${SECOND_FACTOR}/recovery-codes`, {
      password: PASSWORD,
      code: app.next(),
    });
    expect(renewed.status).toBe(200);
    expect((await by.get(SECOND_FACTOR)).body).toMatchObject({ recoveryCodesLeft: 10 });
  });

  it.each(['sha256', 'tiny', 'groups'])('asks %s for no code', async (name) => {
    const credentials = { email: `${name}@realm.example`, password: PASSWORD };
    expect((await service.anyone.post('/api/auth/login', credentials)).status).toBe(200);
  });

  it('stores the secrets encrypted, writes the audit log, and passes the doctor', async () => {
    const rows = await service.db.query('SELECT secret FROM second_factors');
    expect(rows).toHaveLength(5);
    for (const { secret } of rows) expect(secret).toMatch(/^[\w-]{43}\.[\w-]{16}\.[\w-]{40,}$/);
    const events = await service.db.query(
      `SELECT type, user_revision FROM events WHERE user_id =
        (SELECT id FROM users WHERE email = 'short@realm.example') ORDER BY id LIMIT 2`,
    );
    expect(events).toEqual([
      { type: 'account.registered', user_revision: 1 },
      { type: 'account.second_factor_enabled', user_revision: 2 },
    ]);
    expect(await accounts(installation, ['doctor'])).toMatchObject({ code: 0 });
  });

  it('is counted once, if all rows are checked first', async () => {
    const input = JSON.stringify({ users: [{ ...userOf('all', otp(SECRETS.usual)), groups: ['/staff'] }] });
    const { lines } = await importing(input, '--format', 'keycloak', '--all-or-nothing');
    expect(lines).toEqual([
      'imported 1, skipped 0 that already exist, refused 0',
      '1 second factor imported; 1 membership of groups not imported',
    ]);
  });

  it('keeps a disabled user disabled', async () => {
    const input = JSON.stringify({ users: [{ ...userOf('off', otp(SECRETS.usual)), enabled: false }] });
    await importing(input, '--format', 'keycloak');
    const events = await service.db.query(
      `SELECT type, user_revision FROM events WHERE user_id =
        (SELECT id FROM users WHERE email = 'off@realm.example') ORDER BY user_revision`,
    );
    expect(events).toEqual([
      { type: 'account.registered', user_revision: 1 },
      { type: 'account.second_factor_enabled', user_revision: 2 },
      { type: 'account.disabled', user_revision: 3 },
    ]);
    const [user] = await service.db.query("SELECT revision FROM users WHERE email = 'off@realm.example'");
    expect(user).toEqual({ revision: 3 });
  });
});

describe('what an import leaves out', () => {
  it.each([
    [
      'keycloak-realm.json',
      ['--format', 'keycloak'],
      [
        '1 second factor imported; 1 attribute not imported; 5 usernames not imported; 1 login with another provider not imported',
      ],
    ],
    ['auth0-users.json', ['--format', 'auth0'], ['2 fields of metadata not imported']],
    ['firebase-users.json', FIREBASE, ['1 custom claim not imported']],
  ])('is counted in the dry run of %s', async (file, options, counts) => {
    const { lines, summary } = await importingFile(file, ...options);
    expect(lines.at(-1)).toContain(counts[0]);
    expect(Object.values(summary.leftOut ?? {})).not.toEqual([]);
  });

  it('is nothing in JSON Lines, whose unknown fields are refused', async () => {
    const file = pathOf(installation.directory, 'one.jsonl');
    await writeFile(file, JSON.stringify({ email: 'ada@jsonl.example', passwordHash: null }));
    const { stdout } = await accounts(installation, ['users', 'import', file, ...BY_ROOT]);
    expect(stdout).toBe('imported 1, skipped 0 that already exist, refused 0\n');
  });
});

describe('a refused row', () => {
  const HASH = '$2y$04$7SinNdq8UJINIhJBZ8ZG4u9lUUIdSiE0geS98hBC1iVqs9cMiZvqG';
  const csv = (...lines: string[]) =>
    importing(['email;passwordHash;name', ...lines].join('\r\n'), '--format', 'csv', '--dry-run');

  it.each([
    ['ada@example.com;$2x$;Ada', 'line 2, ada@example.com: passwordHash is neither'],
    ['ada;;Ada Lovelace', 'line 2, Ada Lovelace: email is not an email address'],
    // A hash, a password or an escape sequence, if the columns are not what the operator thinks.
    [`ada;;${HASH}`, 'line 2: email is not an email address'],
    ['ada;;Tr0ub4dor&3', 'line 2: email is not an email address'],
    ['ada;;"A\u001b[2J"', 'line 2: email is not an email address'],
    [`${HASH};;`, 'line 2: email is not an email address'],
  ])('names the user, if the file does: %j', async (line, begin) => {
    const { lines } = await csv(line);
    expect(lines[0]!.slice(0, begin.length)).toBe(begin);
  });

  it('names users in JSON, too', async () => {
    const input = JSON.stringify({ users: [{ ...userOf('x'), email: 7, username: 'number7' }] });
    const command = ['users', 'import', '-', '--format', 'keycloak', '--json', ...BY_ROOT];
    const { stdout } = await accounts(installation, command, { input });
    expect(JSON.parse(stdout.split('\n')[0]!)).toMatchObject({ user: 1, name: 'number7' });
  });
});

it('shows its progress on a terminal, and clears it before the result', async () => {
  const file = pathOf(installation.directory, 'progress.csv');
  await writeFile(file, 'email,passwordHash\nwrong,\nada@progress.example,\n');
  const words = [process.execPath, CLI, 'users', 'import', file, '--format', 'csv', '--reason', 'x'];
  const command = words.map((word) => `'${word}'`).join(' ');
  const { stdout } = spawnSync('script', ['-qec', command, '/dev/null'], {
    cwd: installation.directory,
    env: { ...installation.env, PATH: process.env['PATH'] },
    encoding: 'utf8',
  });
  const cleared = '\r\u001b[K';
  const refusal = 'line 2: email is not an email address (invalid_email)\r\n';
  const result = 'imported 1, skipped 0 that already exist, refused 1\r\n';
  expect(stdout).toBe(`${refusal}${cleared}2 users …${cleared}${result}`);
});

it.each(['jsonl', 'csv', 'auth0', 'keycloak'])('refuses a %s file without a line', async (format) => {
  const command = ['users', 'import', '-', '--format', format, ...BY_ROOT];
  expect(await accounts(installation, command, { input: '\ufeff' })).toEqual(
    failure(2, /^error: the (?:file has no users|document is not JSON in UTF-8)\n$/),
  );
});
