import { createCipheriv, scryptSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { base32, codeOfStep } from '../../auth/second-factor/codes.js';
import { loadHashEngine } from '../../auth/passwords/hash-engines.js';
import { AUTH0 } from './auth0.js';
import { CSV } from './csv.js';
import { FIREBASE } from './firebase.js';
import { type ImportFormat, type ImportRow, Refused } from './format.js';
import { rowsOf } from './import-users.js';
import { JSONL } from './jsonl.js';
import { KEYCLOAK } from './keycloak.js';
import { linesOf } from './records.js';

const HASH = `$argon2id$v=19$m=19456,t=2,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`;
const BCRYPT = '$2y$04$7SinNdq8UJINIhJBZ8ZG4u9lUUIdSiE0geS98hBC1iVqs9cMiZvqG';
const ROW = { email: 'ada@example.com', passwordHash: HASH };
const USER = {
  email: 'ada@example.com',
  passwordHash: HASH,
  isEmailVerified: false,
  isDisabled: false,
  id: undefined,
  profile: { name: null, avatarUrl: null, locale: null },
};

async function* streamOf(chunks: readonly (string | Buffer)[]): AsyncGenerator<Buffer> {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

/** Returns each row with its place; of a refused one, code and field. */
async function rowsIn(format: ImportFormat, ...chunks: (string | Buffer)[]): Promise<unknown[]> {
  const rows: unknown[] = [];
  for await (const { position, row } of rowsOf(streamOf(chunks), format)) {
    const where = Object.values(position)[0];
    rows.push(row instanceof Refused ? [where, row.code, row.field] : [where, row]);
  }
  return rows;
}

async function only(format: ImportFormat, row: object): Promise<unknown> {
  const [[, found, field] = []] = (await rowsIn(format, JSON.stringify(row))) as unknown[][];
  return field === undefined ? found : [found, field];
}

describe('a line of JSONL', () => {
  it('has an e-mail in any form, a hash, and what is optional', async () => {
    expect(await only(JSONL, ROW)).toEqual(USER);
    expect(await only(JSONL, { ...ROW, email: ' ADA@Example.COM' })).toEqual(USER);
    const id = '9b2e6c1f-03d4-1f6a-8c15-5d0e7a3b92c4';
    const more = { id: id.toUpperCase(), emailVerified: true, disabled: true };
    expect(await only(JSONL, { ...ROW, ...more })).toEqual({
      ...USER,
      isEmailVerified: true,
      isDisabled: true,
      id,
    });
    const whole = { name: ' Ada ', avatarUrl: 'https://EXAMPLE.com', locale: 'en-gb' };
    const stored = { name: 'Ada', avatarUrl: 'https://example.com/', locale: 'en-GB' };
    expect(await only(JSONL, { ...ROW, ...whole })).toEqual({ ...USER, profile: stored });
    expect(await only(JSONL, { ...ROW, name: null, avatarUrl: null, locale: null })).toEqual(USER);
    expect(await only(JSONL, { ...ROW, passwordHash: null })).toEqual({ ...USER, passwordHash: undefined });
  });

  it.each(['', ' ', '\r', '\t', '\n\n'])('is none if it is empty: %j', async (text) => {
    expect(await rowsIn(JSONL, text)).toEqual([]);
  });

  it.each([
    ['invalid_json', undefined, 'x'],
    ['invalid_json', undefined, 'null'],
    ['invalid_json', undefined, '[]'],
    ['invalid_json', undefined, '"ada@example.com"'],
    ['invalid_json', undefined, Buffer.from([0x7b, 0xff, 0x7d])],
    ['line_too_long', undefined, 'x'.repeat(65_537)],
    ['unknown_field', 'role', JSON.stringify({ ...ROW, role: 'owner' })],
    ['unknown_field', 'one name', JSON.stringify({ ...ROW, [BCRYPT]: true })],
    ['unknown_field', 'one name', JSON.stringify({ ...ROW, '5f4dcc3b5aa765d61d8327deb882cf99': true })],
    ['unknown_field', 'one name', `{"__proto__":{},"email":"ada@example.com","passwordHash":"${HASH}"}`],
    ['invalid_email', 'email', '{}'],
    ['invalid_email', 'email', JSON.stringify({ ...ROW, email: { $gt: '' } })],
    ['invalid_email', 'email', JSON.stringify({ ...ROW, email: 'ada' })],
    ['invalid_hash', 'passwordHash', JSON.stringify({ email: ROW.email })],
    ['invalid_hash', 'passwordHash', JSON.stringify({ ...ROW, passwordHash: '' })],
    ['invalid_hash', 'passwordHash', JSON.stringify({ ...ROW, passwordHash: [HASH] })],
    [
      'hash_too_costly',
      'passwordHash',
      JSON.stringify({ ...ROW, passwordHash: HASH.replace('t=2', 't=99') }),
    ],
    ['invalid_email_verified', 'emailVerified', JSON.stringify({ ...ROW, emailVerified: 'true' })],
    ['invalid_email_verified', 'emailVerified', JSON.stringify({ ...ROW, emailVerified: null })],
    ['invalid_disabled', 'disabled', JSON.stringify({ ...ROW, disabled: 0 })],
    ['invalid_id', 'id', JSON.stringify({ ...ROW, id: 4711 })],
    ['invalid_id', 'id', JSON.stringify({ ...ROW, id: null })],
    ['invalid_id', 'id', JSON.stringify({ ...ROW, id: '' })],
    ['invalid_name', 'name', JSON.stringify({ ...ROW, name: '' })],
    ['invalid_name', 'name', JSON.stringify({ ...ROW, name: 7 })],
    ['invalid_avatar_url', 'avatarUrl', JSON.stringify({ ...ROW, avatarUrl: 'http://example.com' })],
    ['invalid_locale', 'locale', JSON.stringify({ ...ROW, locale: 'de_AT' })],
  ])('is refused as %s (%s): %s', async (code, field, text) => {
    expect(await rowsIn(JSONL, text)).toEqual([[1, code, field]]);
  });
});

describe('a file of CSV', () => {
  const HEADER = 'email,passwordHash,emailVerified,name';
  const csv = (...lines: (string | Buffer)[]) => rowsIn(CSV, `${HEADER}\n`, ...lines);
  const named = (name: string | null) => ({ ...USER, profile: { ...USER.profile, name } });
  // The hash has commas.
  const begin = `ada@example.com,"${HASH}",`;

  it('has a byte order mark, carriage returns and quotes, or not', async () => {
    const lines = [
      HEADER,
      `${begin}TRUE,"Ada ""the first"", Countess"`,
      '',
      `"joan@example.com",${BCRYPT},false,`,
    ];
    const joan = { ...USER, email: 'joan@example.com', passwordHash: BCRYPT };
    const expected = [
      [2, { ...named('Ada "the first", Countess'), isEmailVerified: true }],
      [4, joan],
    ];
    for (const text of [lines.join('\n'), `\ufeff${lines.join('\r\n')}\r\n`])
      expect(await rowsIn(CSV, text)).toEqual(expected);
    expect(await rowsIn(CSV, ...`\ufeff${lines.join('\r\n')}`)).toEqual(expected);
  });

  it('has semicolons, where Excel writes them, and names of columns in any case', async () => {
    const lines = ['Email;PASSWORDHASH;emailverified;name', `ada@example.com;${HASH};WAHR;`];
    expect(await rowsIn(CSV, lines.join('\r\n'))).toEqual([[2, 'invalid_email_verified', 'emailVerified']]);
    const quoted = [`"ada@example.com";${HASH};true;"Ada; ""the first"", Countess"`, `a;b;c`];
    expect(await rowsIn(CSV, `\ufeff${[lines[0], ...quoted].join('\r\n')}`)).toEqual([
      [2, { ...named('Ada; "the first", Countess'), isEmailVerified: true }],
      [3, 'invalid_csv', undefined],
    ]);
  });

  it.each(['=1+1', '+1', '-1', '@SUM(A1)', '=HYPERLINK("https://example.com")'])(
    'has text, and no formulas: %s',
    async (text) => {
      const quoted = `"${text.replaceAll('"', '""')}"`;
      expect(await csv(`${begin},${quoted}\n`)).toEqual([[2, named(text)]]);
      expect(await csv(`${quoted},"${HASH}",,\n`)).toEqual([[2, 'invalid_email', 'email']]);
      expect(await csv(`ada@example.com,${quoted},,\n`)).toEqual([[2, 'invalid_hash', 'passwordHash']]);
    },
  );

  it('may begin an email with = or +', async () => {
    expect(await csv(`=ada@example.com,${BCRYPT},,\n`)).toMatchObject([[2, { email: '=ada@example.com' }]]);
  });

  it('has no password where the cell is empty', async () => {
    expect(await csv('ada@example.com,,,\n')).toEqual([[2, { ...USER, passwordHash: undefined }]]);
  });

  it.each([
    ['invalid_csv', undefined, 'ada@example.com'],
    ['invalid_csv', undefined, `${begin},Ada,Countess`],
    ['invalid_csv', undefined, `${begin},"Ada`],
    ['invalid_csv', undefined, `${begin},Ada "the first"`],
    ['invalid_csv', undefined, `${begin},"Ada" Lovelace`],
    ['invalid_csv', undefined, Buffer.concat([Buffer.from(`${begin},`), Buffer.from([0xfc])])],
    ['line_too_long', undefined, `${begin},"${'x'.repeat(70_000)}`],
    ['invalid_email_verified', 'emailVerified', `${begin},yes,`.replace(',,', ',')],
    ['invalid_name', 'name', `${begin},\u0007`],
  ])('refuses one line as %s, and reads the others: %s %s', async (code, field, line) => {
    const next = `joan@example.com,${BCRYPT},,\n`;
    const joan = { ...USER, email: 'joan@example.com', passwordHash: BCRYPT };
    expect(await csv(line, '\n', next)).toEqual([
      [2, code, field],
      [3, joan],
    ]);
  });

  it.each([
    ['mail;passwordHash\n', /no column email/],
    ['email;passwordHash,name\n', /no column passwordHash/],
    [`ada@example.com,"${HASH}"\n`, /no column email/],
    ['email\n', /no column passwordHash/],
    ['email,passwordHash,role\n', /: role is no field/],
    [`email,passwordHash,${BCRYPT}\n`, /: one name is no field/],
    ['email,passwordHash,email\n', /names a column twice/],
    ['email,passwordHash,"name\n', /no column email/],
  ])('needs a header: %j', async (text, error) => {
    const reading = rowsIn(CSV, text);
    await expect(reading).rejects.toThrow(error);
    await expect(reading).rejects.not.toThrow(/\$2y|argon2id/);
  });
});

describe('an export of another system', () => {
  const row = { email: 'ada@example.com', passwordHash: BCRYPT };
  const other = { ...row, email: 'joan@example.com' };

  it.each([
    ['lines', [JSON.stringify(row), '\n', JSON.stringify(other)]],
    ['one line', [JSON.stringify(row)]],
    ['lines in small chunks', [`${JSON.stringify(row)}\n`, ...JSON.stringify(other)]],
    ['a list', [JSON.stringify([row, other])]],
    ['a list over lines', [JSON.stringify([row, other], null, 2)]],
    ['a list after a byte order mark', [`\ufeff \n${JSON.stringify([row, other])}`]],
    ['an object', [JSON.stringify({ users: [row, other] })]],
    ['an object over lines', [JSON.stringify({ realm: 'x', users: [row, other] }, null, 2)]],
    ['a long object', [JSON.stringify({ realm: 'x'.repeat(99_999), users: [row, other] })]],
    [
      'a long object in chunks',
      JSON.stringify({ realm: 'x'.repeat(99_999), users: [row] }).match(/.{1,50000}/g)!,
    ],
  ])('has its users in %s', async (_what, chunks) => {
    const rows = (await rowsIn(AUTH0, ...chunks)) as [number, ImportRow][];
    expect(rows.map(([place, { email }]) => `${place} ${email}`)).toEqual(
      ['1 ada@example.com', '2 joan@example.com'].slice(0, rows.length),
    );
    expect(rows).not.toHaveLength(0);
  });

  it.each([
    ['{"users":[', /^the document is not JSON in UTF-8$/],
    ['[{"email":"ada@example.com"}', /^the document is not JSON in UTF-8$/],
    ['{\n"realm": "x"\n}', /^the document has no users/],
    ['{\n"users": {}\n}', /^the document has no users/],
  ])('is refused as a whole if it is broken: %j', async (text, error) => {
    await expect(rowsIn(KEYCLOAK, text)).rejects.toThrow(error);
  });

  it('is refused if it is larger than 256 MiB', async () => {
    const part = Buffer.alloc(2 ** 26, ' ');
    const parts = [Buffer.from('['), part, part, part, part];
    await expect(rowsIn(KEYCLOAK, ...parts)).rejects.toThrow(
      /^the document is larger than 256 MiB: split it/,
    );
  });

  it('has a refused user by its number, and no refused line before another', async () => {
    expect(await rowsIn(AUTH0, JSON.stringify([{ ...row, email: 1 }, 7, null]))).toEqual([
      [1, 'invalid_email', 'email'],
      [2, 'invalid_json', undefined],
      [3, 'invalid_json', undefined],
    ]);
    expect(await rowsIn(AUTH0, `{"email":\n${JSON.stringify(row)}`)).toMatchObject([
      [1, 'invalid_json', undefined],
      [2, { email: row.email }],
    ]);
  });

  it('drops an invalid profile, and refuses what decides about the login', async () => {
    const profile = { name: 'A\nB', picture: 'http://example.com', locale: '??' };
    expect(await only(AUTH0, { ...row, ...profile })).toEqual({ ...USER, passwordHash: BCRYPT });
    expect(await only(AUTH0, { ...row, blocked: 'no' })).toEqual(['invalid_disabled', 'blocked']);
    expect(await only(AUTH0, { ...row, email_verified: 1 })).toEqual([
      'invalid_email_verified',
      'email_verified',
    ]);
    expect(await only(KEYCLOAK, { email: row.email, enabled: 'yes' })).toEqual([
      'invalid_disabled',
      'enabled',
    ]);
  });
});

describe('a file that is none', () => {
  const binary = Buffer.from([0x00, 0xff, 0x0a, 0x1b, 0x5b, 0x32, 0x4a, 0x0d, 0x0a, 0xfe, 0xff, 0x00]);
  const LONG = 'x'.repeat(10 * 2 ** 20);
  const readAll = (format: ImportFormat, ...chunks: (string | Buffer)[]): Promise<unknown[]> =>
    rowsIn(format, ...chunks).catch((error: unknown) => [(error as Error).message]);

  it.each([
    ['JSON Lines', JSONL, [1, 2, 3].map((line) => [line, 'invalid_json', undefined])],
    ['CSV', CSV, ['the first line has no column email, between commas or semicolons']],
    ['an export', KEYCLOAK, [1, 2, 3].map((line) => [line, 'invalid_json', undefined])],
  ])('is binary, read as %s', async (_what, format, expected) => {
    expect(await readAll(format, binary)).toEqual(expected);
  });

  it.each([
    ['JSON Lines', JSONL, [[1, 'line_too_long', undefined]]],
    ['CSV', CSV, [[1, 'line_too_long', undefined]]],
    ['an export', AUTH0, ['the document is not JSON in UTF-8']],
  ])('has a line of 10 MB, read as %s', async (_what, format, expected) => {
    expect(await readAll(format, LONG)).toEqual(expected);
  });
});

describe('a hash of Auth0', () => {
  const hashOf = async (custom: object) => {
    const found = await only(AUTH0, { email: 'ada@example.com', custom_password_hash: custom });
    return Array.isArray(found) ? (found as unknown) : (found as ImportRow).passwordHash;
  };

  it('is a custom one, if Accounts can verify it', async () => {
    const derived = scryptSync('correct horse', 'salt', 32, { N: 1024, r: 8, p: 2 });
    const scrypt = {
      algorithm: 'scrypt',
      hash: { value: derived.toString('hex'), encoding: 'hex' },
      salt: { value: 'c2FsdA==', encoding: 'base64' },
      keylen: 32,
      cost: 1024,
      parallelization: 2,
    };
    const phc = await hashOf(scrypt);
    expect(phc).toMatch(/^\$scrypt\$ln=10,r=8,p=2\$c2FsdA\$/);
    expect(await (await loadHashEngine()).verify(phc as string, 'correct horse')).toBe(true);
    expect(await hashOf({ algorithm: 'argon2', hash: { value: HASH } })).toBe(HASH);
    expect(await hashOf({ algorithm: 'bcrypt', hash: { value: BCRYPT, encoding: 'utf8' } })).toBe(BCRYPT);

    const refused = ['invalid_hash', 'passwordHash'];
    for (const wrong of [
      { ...scrypt, keylen: 64 },
      { ...scrypt, cost: 1000 },
      { ...scrypt, salt: undefined },
      { algorithm: 'md5', hash: { value: '5f4dcc3b5aa765d61d8327deb882cf99' } },
      { algorithm: 'bcrypt', hash: { value: BCRYPT }, password: { encoding: 'utf16le' } },
      { algorithm: 'bcrypt' },
      {},
    ])
      expect(await hashOf(wrong)).toEqual(refused);
  });
});

describe('a hash of Keycloak', () => {
  const hashOf = async (credentials: unknown) => {
    const found = await only(KEYCLOAK, { email: 'ada@example.com', credentials });
    return Array.isArray(found) ? (found as unknown) : (found as ImportRow).passwordHash;
  };
  const secretData = JSON.stringify({ value: `${'A'.repeat(42)}A=`, salt: `${'A'.repeat(22)}==` });
  const password = (data: object) => ({ type: 'password', secretData, credentialData: JSON.stringify(data) });
  const argon2 = (type: string, version: string) => ({
    hashIterations: 5,
    algorithm: 'argon2',
    additionalParameters: { memory: ['7168'], parallelism: ['1'], type: [type], version: [version] },
  });

  it('is of the credential that is a password', async () => {
    const ending = `${'A'.repeat(22)}$${'A'.repeat(43)}`;
    const pbkdf2 = password({ hashIterations: 27_500, algorithm: 'pbkdf2-sha256' });
    expect(await hashOf([{ type: 'otp' }, pbkdf2])).toBe(`$pbkdf2-sha256$i=27500$${ending}`);
    expect(await hashOf([password(argon2('id', '1.3'))])).toBe(`$argon2id$v=19$m=7168,t=5,p=1$${ending}`);
    expect(await hashOf([{ type: 'otp' }])).toBeUndefined();
    expect(await hashOf(undefined)).toBeUndefined();
  });

  it.each([
    password({ hashIterations: 27_500, algorithm: 'pbkdf2' }),
    password({ hashIterations: '1e3', algorithm: 'pbkdf2-sha256x' }),
    password(argon2('i', '1.3')),
    password(argon2('d', '1.3')),
    password(argon2('id', '1.0')),
    { type: 'password', value: 'correct horse' },
    { type: 'password', secretData: '{', credentialData: '{' },
    { type: 'password', secretData: {}, credentialData: null },
  ])('is refused if Accounts cannot verify it: %j', async (credential) => {
    expect(await hashOf([credential])).toEqual(['invalid_hash', 'credentials']);
  });

  it('belongs to no account of a client', async () => {
    const client = { username: 'service-account-x', serviceAccountClientId: 'x' };
    expect(await rowsIn(KEYCLOAK, JSON.stringify({ users: [client] }))).toEqual([]);
  });
});

describe('a second factor of Keycloak', () => {
  const extrasOf = (secretData: unknown, credentialData: unknown) =>
    KEYCLOAK.extrasOf!({ credentials: [{ type: 'otp', secretData, credentialData }] });
  const totp = (value: unknown, change: object = {}) => {
    const data = { subType: 'totp', digits: 6, period: 30, algorithm: 'HmacSHA1', ...change };
    return extrasOf(JSON.stringify({ value }), JSON.stringify(data));
  };
  const text = 'ab3DE6gh9JK2mn5PQ8s';

  it('is the text of the secret, or base32 if the export says so', () => {
    expect(totp(text)).toEqual({ totpSecret: Buffer.from(text), leftOut: [] });
    expect(totp(text, { secretEncoding: null })).toEqual({ totpSecret: Buffer.from(text), leftOut: [] });
    const bytes = Buffer.from('0123456789 abcdefghi');
    for (const encoded of [base32(bytes), base32(bytes).toLowerCase(), `${base32(bytes)}====`])
      for (const secretEncoding of ['BASE32', 'base32'])
        expect(totp(encoded, { secretEncoding })).toEqual({ totpSecret: bytes, leftOut: [] });
  });

  it.each([64, 65, 200])('of %i bytes gives the codes of the whole secret', (length) => {
    const secret = Buffer.from('x'.repeat(length));
    const { totpSecret } = totp(secret.toString());
    expect(totpSecret!.length).toBeLessThanOrEqual(64);
    for (const step of [1, 56_666_666]) expect(codeOfStep(totpSecret!, step)).toBe(codeOfStep(secret, step));
  });

  it.each([
    ['SHA-256', { algorithm: 'HmacSHA256' }],
    ['SHA-512', { algorithm: 'HmacSHA512' }],
    ['8 digits', { digits: 8 }],
    ['60 s', { period: 60 }],
    ['HOTP', { subType: 'hotp' }],
    ['damaged', { subType: undefined }],
    ['damaged', { algorithm: '\u001b[2J' }],
    ['damaged', { digits: 'six' }],
    ['damaged', { period: -1 }],
    ['damaged', { secretEncoding: 'HEX' }],
    ['damaged', { secretEncoding: 'BASE32' }],
  ])('is left out as %s: %j', (why, change) => {
    expect(totp(text, change)).toEqual({ totpSecret: undefined, leftOut: [`second factors (${why})`] });
  });

  it.each(['x', '', 'x'.repeat(9), 7, null])('is left out if its secret is short: %j', (value) => {
    expect(totp(value).leftOut).toEqual(['second factors (shorter than 10 bytes)']);
  });

  it.each([
    [undefined, undefined],
    ['{', '{'],
    ['[]', 'null'],
  ])('is left out if it is damaged: %j %j', (secretData, credentialData) => {
    expect(extrasOf(secretData, credentialData).leftOut).toEqual(['second factors (damaged)']);
  });
});

describe('what a user of Keycloak has beside', () => {
  it.each([
    [{ credentials: [{ type: 'webauthn' }] }, ['second factors (security key)']],
    [{ credentials: [{ type: 'webauthn-passwordless' }] }, ['passkeys']],
    [{ credentials: [{ type: 'recovery-authn-codes' }, { type: 'toString' }] }, ['sets of recovery codes']],
    [{ credentials: {}, groups: 7, realmRoles: 'x', attributes: [], clientRoles: [] }, []],
    [{ groups: ['/a', '/b'] }, ['memberships of groups', 'memberships of groups']],
    [{ realmRoles: ['default-roles-x', 'admin'], clientRoles: { a: ['x'], b: [] } }, ['roles', 'roles']],
    [{ attributes: { locale: ['de'], picture: ['x'], phone: ['1'] } }, ['attributes']],
    [{ username: 'Ada@Example.com', email: 'ada@example.com' }, []],
    [{ username: 'ada', email: 'ada@example.com' }, ['usernames']],
  ])('is counted: %j', (row, leftOut) => {
    expect(KEYCLOAK.extrasOf!(row).leftOut).toEqual(leftOut);
  });
});

describe('a hash of Firebase', () => {
  const key = Buffer.alloc(64, 7);
  const config = (change = '', by = ''): string =>
    `hash_config {
  algorithm: SCRYPT,
  base64_signer_key: ${key.toString('base64')},
  base64_salt_separator: Bw==,
  rounds: 8,
  mem_cost: 10,
}`.replace(change, by);
  const salt = Buffer.from('salt-salt');
  const aesKey = scryptSync('correct horse', Buffer.concat([salt, Buffer.from([7])]), 32, {
    N: 1024,
    r: 8,
    p: 1,
  });
  const passwordHash = createCipheriv('aes-256-ctr', aesKey, Buffer.alloc(16)).update(key);
  const hashOf = async (row: object) => {
    const found = await only(FIREBASE.withHashConfig!(config()), { email: 'ada@example.com', ...row });
    return Array.isArray(found) ? (found as unknown) : (found as ImportRow).passwordHash;
  };

  it('is kept as the keystream, without the signer key', async () => {
    for (const encoding of ['base64', 'base64url'] as const) {
      const phc = await hashOf({
        passwordHash: passwordHash.toString(encoding),
        salt: salt.toString(encoding),
      });
      const engine = await loadHashEngine();
      expect(await engine.verify(phc as string, 'correct horse')).toBe(true);
      expect(await engine.verify(phc as string, 'correct horses')).toBe(false);
      expect(phc).not.toContain(passwordHash.toString('base64').slice(0, 40));
    }
    for (const none of [{}, { passwordHash: '' }]) expect(await hashOf(none)).toBeUndefined();
    const refused = ['invalid_hash', 'passwordHash'];
    expect(await hashOf({ passwordHash: 'AAAA', salt: 'AAAA' })).toEqual(refused);
    expect(await hashOf({ passwordHash: passwordHash.toString('base64'), salt: '*' })).toEqual(refused);
    expect(await hashOf({ passwordHash: 7, salt: '' })).toEqual(refused);
  });

  it.each([
    ['SCRYPT', 'BCRYPT', /algorithm must be SCRYPT$/],
    ['algorithm', 'x', /algorithm must be SCRYPT$/],
    ['base64_signer_key', 'x', /base64_signer_key must be base64 of 32 to 64 bytes$/],
    [key.toString('base64'), 'secret', /base64_signer_key must be base64 of 32 to 64 bytes$/],
    ['separator: Bw==', 'separator: !', /base64_salt_separator must be base64 of 0 to 16 bytes$/],
    ['rounds: 8', 'rounds: 9', /rounds must be a whole number from 1 to 8$/],
    ['rounds: 8', 'rounds: 0', /rounds must be a whole number from 1 to 8$/],
    ['mem_cost: 10', 'mem_cost: 15', /mem_cost must be a whole number from 1 to 14$/],
    ['mem_cost: 10', 'mem_cost: 1.5', /mem_cost must be a whole number from 1 to 14$/],
    ['mem_cost: 10', '', /mem_cost must be a whole number from 1 to 14$/],
  ])('needs the right parameters: %s %s', (change, by, error) => {
    expect(() => FIREBASE.withHashConfig!(config(change, by))).toThrow(error);
  });
});

async function read(...chunks: string[]): Promise<[number, string | undefined][]> {
  const lines: [number, string | undefined][] = [];
  for await (const { line, bytes } of linesOf(streamOf(chunks))) lines.push([line, bytes?.toString()]);
  return lines;
}

describe('the lines of a stream', () => {
  it('are numbered, whatever the chunks', async () => {
    const lines = [
      [1, 'one'],
      [2, ''],
      [3, 'three'],
    ];
    expect(await read('one\n\nthree')).toEqual(lines);
    expect(await read('one\n\nthree\n')).toEqual(lines);
    expect(await read(...'one\n\nthree\n')).toEqual(lines);
    expect(await read()).toEqual([]);
    expect(await read('\n')).toEqual([[1, '']]);
  });

  it('are at most 65536 bytes long: of a longer one nothing is kept, and the next one is read', async () => {
    const long = 'x'.repeat(65_536);
    expect(await read(`${long}\n`, `${long}x`, `${long}\nnext`)).toEqual([
      [1, long],
      [2, undefined],
      [3, 'next'],
    ]);
    expect(await read(`${long}x`)).toEqual([[1, undefined]]);
  });
});
