import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitFor } from '../../tooling/wait.js';
import { accounts } from '../support/accounts-command.js';
import { emailTaken, invalidCredentials } from '../support/expected.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { anAccount, type Account, aPassword } from '../support/personas.js';
import { type Instance, startOwnService } from '../support/service.js';

const CLI = resolve(import.meta.dirname, '../../dist/cli/main.js');
const BY_ROOT = ['--as', 'root', '--reason', 'moved'];

/** Made by another implementation of bcrypt. */
const PASSWORD = 'correct horse';
const BCRYPT = '$2y$04$7SinNdq8UJINIhJBZ8ZG4u9lUUIdSiE0geS98hBC1iVqs9cMiZvqG';
/** of 72 times x */
const BCRYPT_OF_72 = '$2a$04$sFiGSK7On/2RheaSPPC2NOtvVbGnzuC5e/s2n404X9cZI.u6BtTRy';
const ID = '9B2E6C1F-03D4-4f6a-8c15-5d0e7a3b92c4';

let installation: Installation;
let service: Instance;
let native: Account;
let argon2id: string;

beforeAll(async () => {
  installation = await anInstallation();
  service = await startOwnService({
    installation,
    env: { RATE_LIMIT_REGISTER: 'off', RATE_LIMIT_LOGIN: 'off' },
  });
  native = await anAccount(service, 'native');
  argon2id = await hashOf(native.email);
});
afterAll(async () => {
  await service.stop();
  await installation.remove();
});

async function hashOf(email: string): Promise<string> {
  const [row] = await service.db.query('SELECT password_hash AS hash FROM users WHERE email = ?', [email]);
  return String(row!['hash']);
}

async function countOf(sql: string): Promise<number> {
  return Number((await service.db.query(`SELECT COUNT(*) AS rows_found FROM ${sql}`))[0]!['rows_found']);
}

const login = (email: string, password: string) =>
  service.anyone.post<{ token: string }>('/api/auth/login', { email, password });

async function importing(parameters: string[], input?: string) {
  const { code, stdout, stderr } = await accounts(
    installation,
    ['users', 'import', ...parameters, ...BY_ROOT, '--json'],
    input === undefined ? {} : { input },
  );
  expect(stderr).toBe('');
  const results = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { code, stdout, refused: results.slice(0, -1), summary: results.at(-1) };
}

describe('accounts users import', () => {
  const lines = (): string[] => [
    JSON.stringify({ email: 'Ada@Imported.example', passwordHash: BCRYPT, emailVerified: true, id: ID }),
    JSON.stringify({ email: 'grace@imported.example', passwordHash: argon2id }),
    '',
    JSON.stringify({ email: 'long@imported.example', passwordHash: BCRYPT_OF_72, emailVerified: false }),
    '{"email":',
    JSON.stringify({ email: 'role@imported.example', passwordHash: BCRYPT, role: 'owner' }),
    JSON.stringify({ email: native.email, passwordHash: BCRYPT }),
    JSON.stringify({ email: 'id@imported.example', passwordHash: BCRYPT, id: native.id }),
    JSON.stringify({ email: 'ada@imported.example', passwordHash: BCRYPT, id: native.id }),
    JSON.stringify({ email: 'grace@imported.example', passwordHash: argon2id }),
    JSON.stringify({ email: 'md5@imported.example', passwordHash: '5f4dcc3b5aa765d61d8327deb882cf99' }),
    JSON.stringify({ email: 'far@imported.example', passwordHash: BCRYPT, x: 'x'.repeat(5000) }),
  ];
  const REFUSED = [
    [5, 'invalid_json'],
    [6, 'unknown_field'],
    [7, 'email_taken'],
    [8, 'id_taken'],
    [9, 'email_taken'],
    [11, 'invalid_hash'],
    [12, 'line_too_long'],
  ];

  it('takes over what it can, shows each refused row, and can be run again', async () => {
    const file = join(installation.directory, 'users.jsonl');
    await writeFile(file, `\ufeff${lines().join('\r\n')}`);

    const first = await importing([file]);

    expect(first.refused.map(({ line, refused }) => [line, refused])).toEqual(REFUSED);
    expect([first.code, first.summary]).toEqual([1, { imported: 3, skipped: 1, refused: 7 }]);
    expect(first.stdout).not.toMatch(/\$2|argon2id\$|imported\.example/);
    expect(
      await service.db.query(
        `SELECT id, email, email_verified_at IS NOT NULL AS verified, revision FROM users
          WHERE email LIKE '%@imported.example' ORDER BY email`,
      ),
    ).toEqual([
      { id: ID.toLowerCase(), email: 'ada@imported.example', verified: 1, revision: 1 },
      { id: expect.any(String) as string, email: 'grace@imported.example', verified: 0, revision: 1 },
      { id: expect.any(String) as string, email: 'long@imported.example', verified: 0, revision: 1 },
    ]);
    const events = await service.db.query(
      `SELECT type, actor_id, user_revision, data, reason FROM events WHERE actor_type = 'operator'`,
    );
    const registered = { type: 'account.registered', actor_id: 'root', user_revision: 1, reason: 'moved' };
    expect(events).toHaveLength(3);
    for (const event of events) expect(event).toEqual({ ...registered, data: '{"via":"import"}' });

    const second = await importing(['-'], lines().join('\n'));
    expect(second.refused).toEqual(first.refused);
    expect(second.summary).toEqual({ imported: 0, skipped: 4, refused: 7 });
  });

  it('lets people log in with the password that they had, and replaces a bcrypt hash', async () => {
    const email = 'ada@imported.example';
    expect(await login(email, `${PASSWORD}!`)).toMatchObject(invalidCredentials);
    expect(await hashOf(email)).toBe(BCRYPT);

    const { status, body } = await login(email, PASSWORD);

    expect(status).toBe(200);
    expect(await service.anyone.withToken(body.token).get('/api/me')).toMatchObject({
      body: { user: { id: ID.toLowerCase(), email } },
    });
    expect(await hashOf(email)).toMatch(/^\$argon2id\$/);
    expect((await login(email, PASSWORD)).status).toBe(200);
    expect((await login('grace@imported.example', native.password)).status).toBe(200);
    expect(await service.anyone.post('/api/auth/register', { email, password: aPassword() })).toMatchObject(
      emailTaken,
    );
  });

  it('does not bring back who was deleted', async () => {
    expect((await accounts(installation, ['users', 'delete', 'ada@imported.example'])).code).toBe(0);

    const { code, refused } = await importing(['-'], lines()[0]);

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
    const rows = Array.from({ length: 4000 }, (_, index) =>
      JSON.stringify({ email: `u${index}@killed.example`, passwordHash: BCRYPT }),
    );
    const IMPORTED = "users WHERE email LIKE '%@killed.example'";
    const command = spawn(process.execPath, [CLI, 'users', 'import', '-'], {
      cwd: installation.directory,
      env: { PATH: process.env['PATH'], ...installation.env },
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    command.stdin.on('error', () => undefined).write(`${rows.slice(0, 3000).join('\n')}\n`);
    await waitFor('some rows are there', 30_000, async () => (await countOf(IMPORTED)) > 0);
    command.kill('SIGKILL');
    await once(command, 'close');
    const before = await countOf(IMPORTED);
    expect(before % 100).toBe(0);

    const { code, summary } = await importing(['-'], rows.join('\n'));

    expect([code, summary]).toEqual([0, { imported: 4000 - before, skipped: before, refused: 0 }]);
    expect(await countOf(IMPORTED)).toBe(4000);
    expect(await countOf(`${IMPORTED} AND (SELECT COUNT(*) FROM events WHERE user_id = users.id) = 1`)).toBe(
      4000,
    );
  });

  it.each([['/nowhere/users.jsonl'], ['.']])('ends with 2 and one line for a file like %s', async (file) => {
    const { code, stdout, stderr } = await accounts(installation, ['users', 'import', file]);

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^error: the file cannot be read: [^\n]+\n$/);
  });
});
