import { spawnSync } from 'node:child_process';
import { pbkdf2Sync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { accounts, BY_ROOT } from '../support/accounts-command.js';
import { engine } from '../support/engine.js';
import { startOwnService } from '../support/service.js';

const PAGE = readFileSync(resolve(import.meta.dirname, '../../docs/migrate.md'), 'utf8');
const [, SECTION = ''] = /^## From better-auth\n(.*?)^## /ms.exec(PAGE) ?? [];
const blocksOf = (text: string, language: string): string[] =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(([, block]) => block!);
const [PROGRAM = ''] = blocksOf(SECTION, 'js');
// As the page says, for SQLite, which reads the double quotes of PostgreSQL.
const [USERS = '', ORGS = ''] = blocksOf(SECTION, 'sql').map((sql) =>
  sql.replace('json_build_object', 'json_object'),
);

/** Made by `hashPassword` of better-auth 1.7.7 (@better-auth/utils 0.4.2). */
const HASHES = {
  'correct horse':
    '0f707d9aa4242dcb8265fa64b06af770:bd6493d4fe4618a96c105db9dc76f5ee3a42755a3ad299d15824f30d2d15e181e27c6db4ad4e0bd030dc464b11bca2b9e9272d7681debef951efd63d73f4ad2f',
  'Café au lait':
    'c759a120a6a4f9dd597c564c4157ba7f:7bdf6f19bfa5fb5bfcbfe40097ef2debdd02cc371c90eeccf5ff55d9c7af1cf4a6483e0ddb9b2604936f0de92909336048f951fdbc20cc0ec0f27c7034e6d2af',
};
const [ADA, GRACE] = Object.entries(HASHES) as [[string, string], [string, string]];

const service = await startOwnService({ env: { RATE_LIMIT_LOGIN: 'off' } });
const { installation, db } = service;
afterAll(() => service.stop());

const login = (email: string, password: string) =>
  service.anyone.post('/api/auth/login', { email, password });

async function importing(kind: 'users' | 'orgs', input: string): Promise<string> {
  const command = [kind, 'import', '-', ...BY_ROOT];
  const { code, stdout, stderr } = await accounts(installation, command, { input });
  expect([code, stderr], stdout).toEqual([0, '']);
  return stdout;
}

function betterAuth(): DatabaseSync {
  const database = new DatabaseSync(':memory:');
  database.exec(`
    CREATE TABLE "user" (id text PRIMARY KEY, name text, email text, "emailVerified" integer, image text);
    CREATE TABLE account (id text PRIMARY KEY, "userId" text, "providerId" text, password text);
    CREATE TABLE organization (id text PRIMARY KEY, name text, slug text);
    CREATE TABLE member (id text PRIMARY KEY, "organizationId" text, "userId" text, role text);
    INSERT INTO "user" VALUES ('a', 'Ada Lovelace', 'ada@better.example', 1, NULL),
      ('g', '', 'grace@better.example', 0, NULL), ('s', 'Social', 'social@better.example', 1, NULL);
    INSERT INTO account VALUES ('1', 'a', 'credential', '${ADA[1]}'), ('2', 'g', 'credential', '${GRACE[1]}'),
      ('3', 'g', 'google', NULL), ('4', 's', 'google', NULL);
    INSERT INTO organization VALUES ('Zk3f9', 'Analytical Engines', 'engines'), ('q8Xw2', 'Analytical Engines', 'two');
    INSERT INTO member VALUES ('1', 'Zk3f9', 'a', 'owner'), ('2', 'Zk3f9', 'g', 'admin'), ('3', 'q8Xw2', 'g', 'owner');`);
  return database;
}
const linesOf = (database: DatabaseSync, sql: string): string =>
  database
    .prepare(sql)
    .all()
    .map((row) => Object.values(row).join(''))
    .join('\n');

describe('a migration from better-auth', () => {
  const database = betterAuth();

  it('imports the users by the ten lines of the page', async () => {
    const command = ['--input-type=module', '-e', PROGRAM];
    const { stdout, stderr } = spawnSync(process.execPath, command, {
      input: linesOf(database, USERS),
      encoding: 'utf8',
    });
    expect([stderr, PROGRAM.trim().split('\n').length]).toEqual([
      '',
      expect.toSatisfy((lines) => Number(lines) <= 13),
    ]);
    expect(await importing('users', stdout)).toBe('imported 3, skipped 0 that already exist, refused 0\n');
    const users = await db.query(
      `SELECT email, name, email_verified_at IS NOT NULL AS verified FROM users WHERE email LIKE '%@better.example' ORDER BY email`,
    );
    expect(users).toEqual([
      { email: 'ada@better.example', name: 'Ada Lovelace', verified: 1 },
      { email: 'grace@better.example', name: null, verified: 0 },
      { email: 'social@better.example', name: 'Social', verified: 1 },
    ]);
  });

  it.each([
    ['ada@better.example', ADA[0]],
    ['grace@better.example', GRACE[0]],
  ])('lets %s log in with the old password, whose hash is replaced', async (email, password) => {
    expect((await login(email, `${password}!`)).status).toBe(401);
    expect((await login(email, password)).status).toBe(200);
    const [user] = await db.query('SELECT password_hash AS hash FROM users WHERE email = ?', [email]);
    expect(user!['hash']).toMatch(/^\$argon2id\$/);
    expect((await login(email, password)).status).toBe(200);
  });

  it('imports the organizations, of which two have one name', async () => {
    const summary =
      'created 2 organizations, added 3 members, skipped 0 that are members already, refused 0\n';
    expect(await importing('orgs', linesOf(database, ORGS))).toBe(summary);
  });
});

describe.runIf(engine === 'mariadb')('a migration from Django', () => {
  it('imports the users by the query of the page', async () => {
    const sql = blocksOf(PAGE, 'sql').find((block) => block.includes('auth_user'))!;
    const key = pbkdf2Sync('correct horse', 'Kq3xT9aLm2', 600_000, 32, 'sha256').toString('base64');
    await db.query('CREATE TABLE auth_user (email varchar(254), is_active int, password varchar(128))');
    await db.query('INSERT INTO auth_user VALUES (?, 1, ?), (?, 0, ?)', [
      'ada@django.example',
      `pbkdf2_sha256$600000$Kq3xT9aLm2$${key}`,
      'gone@django.example',
      'pbkdf2_sha256$1$x$x',
    ]);
    const rows = await db.query(sql.replace(/;\s*$/, ''));
    await db.query('DROP TABLE auth_user');
    // The driver parses the column.
    const lines = rows.map(({ line }) => JSON.stringify(line)).join('\n');
    expect(await importing('users', lines)).toBe('imported 1, skipped 0 that already exist, refused 0\n');
    expect((await login('ada@django.example', 'correct horse')).status).toBe(200);
  });
});
