import { access, chmod, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pass } from 'node:timers/promises';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { accounts } from '../support/accounts-command.js';
import { atOnce, times } from '../support/at-once.js';
import { invalidCode, invalidCredentials } from '../support/expected.js';
import { holdRows } from '../support/held-rows.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { aCode, anAccount, anEmail, aPassword, byCode, exchange, logIn } from '../support/personas.js';
import { type Service, startService } from '../support/service.js';
import { BUILT_SERVICE, exitCode, spawnCommand, untilListening } from '../support/service-process.js';
import { decodeToken } from '../support/signing-keys.js';

let installation: Installation;
beforeEach(async () => {
  installation = await anInstallation();
});
afterEach(() => installation.remove());

describe('the environment', () => {
  const policyOf = async (service: Service, path: 'login' | 'register') => {
    const credentials = { email: anEmail(), password: aPassword() };
    const { headers } = await service.anyone.post(`/api/auth/${path}`, credentials);
    return headers.get('ratelimit-policy');
  };

  it('needs no variables: data and keys are created under ./data', async () => {
    const env = { DATABASE_URL: undefined, JWT_KEYS_FILE: undefined };
    const service = await startService({ installation, env });
    expect((await (await anAccount(service, 'ada')).get('/api/me')).status).toBe(200);
    await access(join(installation.directory, 'data', 'accounts.sqlite'));
    expect((await stat(join(installation.directory, 'data', 'jwks.json'))).mode & 0o777).toBe(0o600);
    await service.stop();
  });

  it('is completed by a .env file, which does not override it', async () => {
    const variables = 'RATE_LIMIT_LOGIN=3/1h\nRATE_LIMIT_REGISTER=4/1h\n';
    await writeFile(join(installation.directory, '.env'), variables);
    const service = await startService({ installation, env: { RATE_LIMIT_REGISTER: '9/2h' } });
    expect(await policyOf(service, 'login')).toBe('"login";q=3;w=3600');
    expect(await policyOf(service, 'register')).toBe('"register";q=9;w=7200');
    await service.stop();
  });

  it('may name a file with the URL of the database, for the service and its commands', async () => {
    const file = join(installation.directory, 'database-url');
    await writeFile(file, `${installation.env['DATABASE_URL']}\n`, { mode: 0o644 });
    // With a default, as in the systemd unit.
    const env = { DATABASE_URL: 'sqlite:/proc/none/accounts.sqlite', DATABASE_URL_FILE: file };

    const service = await startService({ installation, env });
    const ada = await anAccount(service, 'ada');
    const { stdout } = await accounts(installation, ['users', 'show', ada.email], { env });
    await service.stop();

    expect(stdout).toContain(ada.email);
    const warnings = service.logs.filter((line) => line.includes('DATABASE_URL_FILE'));
    expect(warnings).toEqual([expect.stringContaining('other users can read')]);
  });

  it('may have variables of other programs, and empty values, which count as unset', async () => {
    const others = {
      REDIS_PORT: 'tcp://10.0.0.1:6379',
      DATABASE_HOST: 'db',
      SMTP_PASSWORD: 'x',
      JWT_SECRET: 'x',
    };
    const empty = { RATE_LIMIT_LOGIN: '', TRUST_PROXY: '', CORS_ORIGINS: ' ', REDIS_URL: '', LOG_LEVEL: '' };
    const service = await startService({ installation, env: { ...others, ...empty } });

    expect((await service.anyone.get('/health/ready')).status).toBe(200);
    expect(await policyOf(service, 'login')).toBe('"login";q=10;w=900');
    await service.stop();
  });
});

describe('accounts config check', () => {
  const checked = async (env: Record<string, string>) => accounts(installation, ['config', 'check'], { env });
  const warningsIn = (output: string) =>
    output
      .split('\n')
      .flatMap((line) => (line.startsWith('warning: ') ? [line.slice(9, line.indexOf(': ', 9))] : []));

  it('prints the effective values without secrets, and connects to nothing', async () => {
    const smtp = join(installation.directory, 'smtp-url');
    await writeFile(smtp, 'smtp://mailer:hidden-1@127.0.0.1:1', { mode: 0o600 });
    const { code, stdout, stderr } = await checked({
      DATABASE_URL: 'mysql://root:hidden-2?#@127.0.0.1:1/accounts',
      REDIS_URL: 'rediss://:hidden-3@127.0.0.1:1/0?password=hidden-4',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'https://hidden-5@collector.example/v1?key=a@hidden-6#hidden-7',
      SMTP_URL_FILE: smtp,
      MAIL_FROM: 'Accounts <no-reply@example.com>',
      JWT_ISSUER: 'https://hidden-8:hidden-9@accounts.example',
      REGISTRATION_DOMAINS: 'example.com',
    });

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).not.toContain('hidden');
    const values = Object.fromEntries(stdout.split('\n').map((line) => line.split(/ +(.*)/)));
    expect(values).toMatchObject({
      DATABASE_URL: 'mysql://***@127.0.0.1:1/accounts',
      REDIS_URL: 'rediss://***@127.0.0.1:1/0?***',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'https://***@collector.example/v1?***',
      SMTP_URL: 'smtp://***@127.0.0.1:1',
      SMTP_URL_FILE: smtp,
      JWT_ISSUER: 'https://***@accounts.example',
      MAIL_FROM: 'Accounts <no-reply@example.com>',
      NODE_ENV: 'development  (default)',
      PORT: '3000  (default)',
      METRICS_PORT: '-',
    });
    expect(warningsIn(stdout)).toEqual(['REGISTRATION_DOMAINS', 'JWT_ISSUER']);
  });

  it('warns of what is rarely right in production, and creates no file', async () => {
    const env = {
      DATABASE_URL: 'mysql://root@127.0.0.1:1/accounts',
      JWT_KEYS_FILE: './none.json',
      SMTP_SERVER_URL: 'smtp://hidden-word',
      REFRESH_GRACE: '0s',
      WEB_CONCURRENCY: '2',
    };
    const names = [
      'SMTP_SERVER_URL',
      'WEB_CONCURRENCY',
      'JWT_ISSUER',
      'SMTP_URL',
      'REDIS_URL',
      'REFRESH_GRACE',
    ];
    const { stdout } = await checked(env);
    expect(warningsIn(stdout)).toEqual(names);
    expect(stdout).not.toContain('hidden-word');

    await chmod(join(installation.directory, 'jwks.json'), 0o644);
    const good = { JWT_ISSUER: 'https://a.example', SMTP_URL: 'smtp://m', MAIL_FROM: 'a@example.com' };
    const cost = { ARGON2_MEMORY_KIB: '', ARGON2_TIME: '' };
    expect(warningsIn((await checked({ ...good, ...cost })).stdout)).toEqual(['JWT_KEYS_FILE']);
    const production = { ...good, NODE_ENV: 'production', JWT_ISSUER: 'http://a.example' };
    const missing = ['JWT_KEYS_FILE', 'JWT_ISSUER', 'TRUST_PROXY'];
    expect(warningsIn((await checked(production)).stdout)).toEqual(missing);
    const whole = { ...production, JWT_ISSUER: 'https://a.example', TRUST_PROXY: '127.0.0.1' };
    expect(warningsIn((await checked(whole)).stdout)).toEqual(['JWT_KEYS_FILE']);
    expect(await readdir(installation.directory)).toEqual(['jwks.json']);
  });
});

it.each([
  ['production', {}, 'production'],
  ['that of the environment', { NODE_ENV: 'test' }, 'test'],
])('--production means %s, which the log says', async (_what, env, mode) => {
  const command = [...BUILT_SERVICE, '--production'] as const;
  const service = spawnCommand(command, installation.directory, {
    ...installation.env,
    HOST: '127.0.0.1',
    ...env,
  });
  await untilListening(service);
  service.child.kill('SIGTERM');
  await exitCode(service);
  expect(service.logs.filter((line) => line.includes('"listening"'))).toEqual([
    expect.stringContaining(`"mode":"${mode}"`),
  ]);
});

describe('lifetimes', async () => {
  const env = { CODE_TTL: '30s', TOKEN_TTL: '24h', SESSION_MAX_AGE: '1h' };
  const service = await startService({ env });
  afterAll(() => service.stop());
  const timesOf = ({ token }: { token: string }) =>
    decodeToken(token).claims as { auth_time: number; exp: number };

  it('no token outlives SESSION_MAX_AGE, and a chain of codes never extends the login', async () => {
    let link = await anAccount(service, 'ada');
    const login = timesOf(link);
    expect(login.exp).toBe(login.auth_time + 3600);

    for (let count = 0; count < 20; count += 1) {
      // Without this wait, a lifetime that restarts at each link would go unnoticed.
      if (count === 1) await pass(1_100);
      link = await byCode(service, link);
      expect(timesOf(link).auth_time).toBe(login.auth_time);
      expect(timesOf(link).exp).toBeLessThanOrEqual(login.auth_time + 3600);
    }
  });

  it('a code expires after CODE_TTL, or once its login has reached SESSION_MAX_AGE', async () => {
    const ada = await anAccount(service, 'ada');
    const code = await aCode(ada);
    const rows = await service.db.query('SELECT expires_at - created_at AS ms FROM authorization_codes');
    expect(Number(rows.at(-1)!['ms'])).toBe(30_000);
    const sql = 'UPDATE sessions SET auth_time = auth_time - 3600000 WHERE user_id = ?';
    await service.db.query(sql, [ada.id]);
    expect(await exchange(service, code)).toMatchObject(invalidCode);
    const opened = 'SELECT id FROM sessions WHERE user_id = ? AND code_hash IS NOT NULL';
    expect(await service.db.query(opened, [ada.id])).toEqual([]);
  });
});

describe('stored passwords', () => {
  const hashOf = async ({ db }: Service, email: string): Promise<string> =>
    String((await db.query('SELECT password_hash AS hash FROM users WHERE email = ?', [email]))[0]?.['hash']);

  function costOf(hash: string) {
    expect(hash).toMatch(/^\$argon2id\$v=19\$[mtp]=\d+,[mtp]=\d+,[mtp]=\d+\$[\w+/]{22,}\$[\w+/]{43,}$/);
    return Object.fromEntries(
      [...hash.matchAll(/([mtp])=(\d+)/g)].map(([, name, cost]) => [name, Number(cost)]),
    );
  }

  it('are argon2id at the cost that OWASP recommends, unless configured otherwise', async () => {
    const env = { ARGON2_MEMORY_KIB: undefined, ARGON2_TIME: undefined };
    const service = await startService({ installation, env });
    const { email } = await anAccount(service);
    expect(costOf(await hashOf(service, email))).toEqual({ m: 19_456, t: 2, p: 1 });
    await service.stop();
  });

  it('are rehashed at login once the configured cost has risen', async () => {
    const cheap = await startService({ installation });
    const ada = await anAccount(cheap);
    const { email } = ada;
    const outdated = await hashOf(cheap, email);
    expect(costOf(outdated)).toMatchObject({ m: 1024, t: 1 });
    await cheap.stop();

    const dear = await startService({ installation, env: { ARGON2_MEMORY_KIB: '2048', ARGON2_TIME: '3' } });
    const answers = await atOnce(times(4, () => () => logIn(dear, ada)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(costOf(await hashOf(dear, email))).toMatchObject({ m: 2048, t: 3 });
    expect((await logIn(dear, ada)).status).toBe(200);

    // Somebody sets another password while a login is about to replace an outdated hash of the old one.
    await dear.db.query('UPDATE users SET password_hash = ? WHERE email = ?', [outdated, email]);
    const held = await holdRows(dear);
    await held.write("UPDATE users SET password_hash = 'of another password' WHERE email = ?", [email]);
    const late = logIn(dear, ada);
    await held.untilOneWaits();
    await held.commit();
    await late;
    expect(await hashOf(dear, email)).toBe('of another password');
    await dear.stop();
  });

  it('differ for two users with one password; damaged ones match nothing and affect no other user', async () => {
    const service = await startService();
    const password = aPassword();
    const emails = [anEmail(), anEmail()] as const;
    for (const email of emails) await service.anyone.post('/api/auth/register', { email, password });
    const [email, other] = emails;
    expect(await hashOf(service, email)).not.toBe(await hashOf(service, other));

    for (const damage of ['', 'garbage', '$argon2id$v=19$m=1024,t=1,p=1$', '$2b$10$abcdefghijklmnopqrstuv']) {
      await service.db.query('UPDATE users SET password_hash = ? WHERE email = ?', [damage, email]);
      expect(await logIn(service, { email, password }), damage).toMatchObject(invalidCredentials);
    }
    expect((await logIn(service, { email: other, password })).status).toBe(200);
    await service.stop();
  });
});
