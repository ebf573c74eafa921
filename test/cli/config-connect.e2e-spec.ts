import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { MariaDbServer } from '../../tooling/servers/mariadb.js';
import { RedisServer } from '../faults/support/redis-server.js';
import { accounts } from '../support/accounts-command.js';
import { Authority } from '../support/certificates.js';
import { anInstallation } from '../support/installation.js';
import { aSilentServer, MailServer } from '../support/mail-server.js';

const PASSWORD = 'hidden-word';
const [ours, strange] = await Promise.all([Authority.create('ours'), Authority.create('strange')]);
const certificate = await ours.issue('DNS:localhost,IP:127.0.0.1');

const [server, redis, mailServer, silent, sqlite] = await Promise.all([
  MariaDbServer.start({
    args: [`--ssl-cert=${certificate.certificate}`, `--ssl-key=${certificate.key}`],
  }),
  RedisServer.start(certificate),
  MailServer.start({ certificate, login: { user: 'mailer', password: PASSWORD } }),
  aSilentServer(),
  anInstallation({ engine: 'sqlite' }),
]);
const installation = await anInstallation({ engine: 'mariadb', mariadbPort: server.port });
afterAll(async () => {
  await Promise.all([server.close(), redis.close(), mailServer.stop(), sqlite.remove()]);
  silent.stop();
});

const schema = new URL(installation.db.url).pathname.slice(1);
await server.createDatabase('empty');
for (const sql of [
  `CREATE USER service@'%' IDENTIFIED BY '${PASSWORD}'`,
  `GRANT ALL ON ${schema}.* TO service@'%'`,
  `GRANT ALL ON empty.* TO service@'%'`,
  `CREATE USER reader@'%' IDENTIFIED BY '${PASSWORD}'`,
  `GRANT SELECT ON ${schema}.* TO reader@'%'`,
])
  await server.execute(sql);
await redis.command('CONFIG', 'SET', 'maxmemory-policy', 'volatile-lru');
await redis.command('ACL', 'SETUSER', 'limits', 'on', `>${PASSWORD}`, 'allkeys', '+@all');

const databaseOf = (user: string, password = PASSWORD, name = schema, host = 'localhost'): string =>
  `mysql://${user}:${password}@${host}:${server.port}/${name}`;
const redisOf = (password: string) => `rediss://limits:${password}@localhost:${redis.port}`;

const WORKS = {
  DATABASE_URL: databaseOf('service'),
  DATABASE_SSL: 'verify',
  DATABASE_SSL_CA: ours.certificate,
  REDIS_URL: redisOf(PASSWORD),
  REDIS_SSL_CA: ours.certificate,
  ...mailServer.env,
  SMTP_SSL_CA: ours.certificate,
};
type Variables = Partial<Record<keyof typeof WORKS, string>> & Record<string, string>;

interface Trial {
  what: string;
  works?: boolean;
  detail: string;
}

async function connect(env: Variables): Promise<{ code: number | null; lines: string[] }> {
  const { code, stdout, stderr } = await accounts(installation, ['config', 'check', '--connect'], { env });
  expect(stdout + stderr).not.toContain(PASSWORD);
  expect(stderr).toBe('');
  return { code, lines: stdout.split('\n').filter((line) => /^(?:ok|FAILED) /.test(line)) };
}

async function failures(env: Variables): Promise<{ code: number | null; failed: string[] }> {
  const { code, lines } = await connect({ ...WORKS, ...env });
  return { code, failed: lines.filter((line) => !line.startsWith('ok ')) };
}

it('tries what the service will need, and sends no email', async () => {
  const { code, lines } = await connect(WORKS);

  expect(lines).toEqual([
    expect.stringMatching(
      /^ok {5}database localhost:\d+: MariaDB, logged in, TLSv1\.\d, certificate verified$/,
    ),
    'ok     schema: the next start migrates it',
    'ok     every acknowledged change survives a crash of the database server: yes',
    'ok     the database accepts changes: yes',
    expect.stringMatching(/^ok {5}clock: [\d.]+ s (?:ahead of|behind) the database$/),
    'ok     rights: the user of DATABASE_URL may read and change rows',
    `ok     Redis localhost:${redis.port}: logged in, TLS, certificate verified, volatile-lru`,
    `ok     mail server localhost:${mailServer.port}: STARTTLS, logged in`,
    'ok     JWT_KEYS_FILE: 1 keys',
  ]);
  expect(code).toBe(0);
  expect(mailServer.mails).toEqual([]);
  const { stdout } = await accounts(installation, ['config', 'check', '--connect', '--json'], { env: WORKS });
  const results = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Trial);
  expect(results.filter(({ works }) => works)).toHaveLength(lines.length);
});

describe('exits with 1, and one line, for', () => {
  it.each<[string, Variables, RegExp]>([
    [
      'a wrong password of the database',
      { DATABASE_URL: databaseOf('service', `${PASSWORD}s`) },
      /^FAILED database localhost:\d+: Access denied for user 'service'/,
    ],
    [
      'a database that does not exist',
      { DATABASE_URL: databaseOf('root', '', 'elsewhere') },
      /^FAILED database localhost:\d+: Unknown database 'elsewhere'/,
    ],
    [
      'a database with the certificate of another authority',
      { DATABASE_SSL_CA: strange.certificate },
      /^FAILED database localhost:\d+: .*certificate/,
    ],
    ['a user who may only read', { DATABASE_URL: databaseOf('reader') }, /^FAILED rights: .*denied/],
    [
      'a schema that the next start may not migrate',
      { MIGRATIONS: 'check' },
      /^FAILED schema: not up to date.*accounts migrate/,
    ],
    [
      'a wrong password of Redis',
      { REDIS_URL: redisOf(`${PASSWORD}s`) },
      /^FAILED Redis localhost:\d+: WRONGPASS/,
    ],
    [
      'Redis with the certificate of another authority',
      { REDIS_SSL_CA: strange.certificate },
      /^FAILED Redis localhost:\d+: .*certificate/,
    ],
    [
      'a wrong password of the mail server',
      { SMTP_URL: mailServer.url.replace(PASSWORD, `${PASSWORD}s`) },
      /^FAILED mail server localhost:\d+: EAUTH 535/,
    ],
    [
      'a mail server with the certificate of another authority',
      { SMTP_SSL_CA: strange.certificate },
      /^FAILED mail server localhost:\d+: /,
    ],
  ])('%s', async (_what, env, line) => {
    const { code, failed } = await failures(env);
    expect(failed).toEqual([expect.stringMatching(line)]);
    expect(code).toBe(1);
  });

  it('commits that a crash would lose', async () => {
    await server.execute('SET GLOBAL innodb_flush_log_at_trx_commit = 2');
    const { code, failed } = await failures({});
    await server.execute('SET GLOBAL innodb_flush_log_at_trx_commit = 1');

    expect(failed).toEqual([expect.stringMatching(/^FAILED every acknowledged change .*_commit=2/)]);
    expect(code).toBe(1);
  });

  it('a read-only server', async () => {
    await server.execute('SET GLOBAL read_only = 1');
    const { code, failed } = await failures({});
    await server.execute('SET GLOBAL read_only = 0');

    expect(failed).toEqual([
      expect.stringMatching(/^FAILED the database accepts changes: .*--read-only.* SET GLOBAL read_only = 0/),
    ]);
    expect(code).toBe(1);
  });

  it.each([-5, 5])('a clock that differs by %i s', async (seconds) => {
    // Of connections without CONNECTION ADMIN, whose statements read this time.
    await server.execute(
      `SET GLOBAL init_connect = 'SET timestamp = UNIX_TIMESTAMP(SYSDATE(6)) + ${seconds}'`,
    );
    const { code, failed } = await failures({});
    await server.execute("SET GLOBAL init_connect = ''");

    const side = seconds > 0 ? 'behind' : 'ahead of';
    expect(failed).toEqual([
      expect.stringMatching(`^FAILED clock: [\\d.]+ s ${side} the database: run chrony`),
    ]);
    expect(code).toBe(1);
  });

  it('a full Redis that would count nothing', async () => {
    await redis.command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
    const { code, failed } = await failures({});
    await redis.command('CONFIG', 'SET', 'maxmemory-policy', 'volatile-lru');

    expect(failed).toEqual([expect.stringMatching(/^FAILED Redis .*: maxmemory-policy is noeviction/)]);
    expect(code).toBe(1);
  });

  it('each server that accepts a connection and never answers', async () => {
    const port = new URL(silent.url).port;
    const { code, failed } = await failures({
      DATABASE_URL: `mysql://service:${PASSWORD}@127.0.0.1:${port}/${schema}`,
      REDIS_URL: `rediss://:${PASSWORD}@127.0.0.1:${port}`,
      SMTP_URL: `smtp://mailer:${PASSWORD}@127.0.0.1:${port}`,
    });

    expect(failed).toEqual([
      `FAILED database 127.0.0.1:${port}: no answer within 5 s`,
      `FAILED Redis 127.0.0.1:${port}: no answer within 5 s`,
      `FAILED mail server 127.0.0.1:${port}: no answer within 5 s`,
    ]);
    expect(code).toBe(1);
  });
});

it('names each host of the database, and tries the rest on the first that answers', async () => {
  const { code, lines } = await connect({
    ...WORKS,
    DATABASE_URL: databaseOf('service').replace('@', '@localhost:1,'),
  });

  expect(lines.slice(0, 3)).toEqual([
    expect.stringMatching(/^FAILED database localhost:1: .*ECONNREFUSED/),
    expect.stringMatching(/^ok {5}database localhost:\d+: MariaDB/),
    'ok     schema: the next start migrates it',
  ]);
  expect(code).toBe(1);
});

it('needs no server with SQLite, and creates nothing', async () => {
  const { env } = sqlite;
  const before = await connect(env);
  expect(before).toEqual({
    code: 0,
    lines: [
      expect.stringMatching(/^ok {5}database: the next start creates .*accounts\.sqlite$/),
      'ok     JWT_KEYS_FILE: 1 keys',
    ],
  });
  expect(existsSync(join(sqlite.directory, 'accounts.sqlite'))).toBe(false);

  expect((await accounts(sqlite, ['migrate'])).code).toBe(0);
  const { code, lines } = await connect(env);
  expect(code).toBe(0);
  expect(lines.slice(0, 2)).toEqual([
    expect.stringMatching(/^ok {5}database: SQLite, /),
    'ok     schema: up to date',
  ]);
});
