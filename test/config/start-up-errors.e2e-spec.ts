import { spawnSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { generateKeyPairSync } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { accounts, accountsJson } from '../support/accounts-command.js';
import { anInstallation } from '../support/installation.js';
import { runService } from '../support/service-hosts.js';
import { AS_AN_OLD_NODE, type Environment, exitCode, spawnService } from '../support/service-process.js';
import { startOwnService } from '../support/service.js';
import { aSigningKey } from '../support/signing-keys.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';

/** None of these values may be shown: a value can be a secret. */
const WRONG: Record<string, string[]> = {
  NODE_ENV: ['prod', 'Production', 'hidden-word'],
  PORT: ['70000', 'eighty', '80.5'],
  METRICS_PORT: ['70000', 'on', '-1'],
  OTEL_EXPORTER_OTLP_ENDPOINT: ['http://', 'collector:4318', 'ftp://hidden-word'],
  OTEL_TRACES_SAMPLER_ARG: ['2', '-1', 'all'],
  DATABASE_URL: ['postgres://u:hidden-word@h/db', 'sqlite:', 'mysql://u:hidden-word@h'],
  DATABASE_URL_FILE: ['./hidden-word', '.', '/dev/null'],
  DATABSE_URL: ['mysql://u:hidden-word@h/db'],
  DATABASE_SSL: ['on', 'true', 'Required'],
  DATABASE_SSL_CA: ['./hidden-word.pem', '.', '/dev/null'],
  DATABASE_POOL_SIZE: ['0', '1', '-3', 'plenty'],
  REDIS_URL: ['http://hidden-word', 'localhost:6379'],
  REDIS_URL_FILE: ['./hidden-word', '.', '/dev/null'],
  REDIS_SSL_CA: ['./hidden-word.pem', '.', '/dev/null'],
  SMTP_URL: ['http://hidden-word', 'file://hidden-word', 'mail:25', 'smtp://:hidden-word@mail'],
  SMTP_URL_FILE: ['./hidden-word', '.', '/dev/null'],
  SMTP_SSL_CA: ['./hidden-word.pem', '.', '/dev/null'],
  MAIL_TIME_ZONE: ['hidden-word', '+99:00'],
  MAIL_PRODUCT_NAME: ['[hidden-word]', 'x'.repeat(61), 'hidden\u202Eword'],
  MAIL_FROM: ['Accounts', 'a b@hidden-word', 'x@y@z'],
  TOKEN_TTL: ['86400', '0s', '1h30m'],
  CODE_TTL: ['11m', '0s', 'sixty'],
  SESSION_MAX_AGE: ['0d', 'forever'],
  ACCESS_TOKEN_TTL: ['25h', '0s', 'short'],
  SESSION_IDLE: ['0d', '3651d', 'idle'],
  REFRESH_GRACE: ['11m', '-1s', '00s', '0x', 'none'],
  RATE_LIMIT_REGISTER: ['5', '0/1h', 'on'],
  RATE_LIMIT_LOGIN: ['ten/15m', '10/15', '10 per 15m'],
  RATE_LIMIT_IP: ['5', '0/1h', 'on'],
  RATE_LIMIT_FAILED_LOGINS: ['5', '0/1h', 'on'],
  RATE_LIMIT_LOOKUP: ['100', '100/0h', 'on'],
  RATE_LIMIT_FORGOT: ['3', '3/0m', 'on'],
  RATE_LIMIT_CODE: ['10', '0/15m', 'on'],
  RATE_LIMIT_EXPORT: ['3', '3/0m', 'on'],
  RATE_LIMIT_PROVIDER: ['30', '30/0m', 'on'],
  RATE_LIMIT_WRITES: ['600', '600/0m', 'on'],
  RATE_LIMIT_LOGINS: ['10/15m'],
  RATE_LIMT_LOGIN: ['hidden-word'],
  ARGON2_MEMORY: ['19456'],
  ARGON2_MEMORY_KIB: ['7', '19 MiB', '1e4'],
  ARGON2_TIME: ['0', 'twice'],
  ARGON2_PARALLELISM: ['0', 'x'],
  TRUSTED_PROXY: ['127.0.0.1'],
  LIMIT_RATE_IP: ['hidden-word'],
  TRUST_PROXY: ['true', '1', '10.0.0.0/33'],
  CORS_ORIGINS: ['*', 'null', 'https://app.example.com/'],
  REGISTRATION: ['on', 'Open', 'hidden-word'],
  REGISTRATION_DOMAINS: ['hidden-word', ',', 'example.com.'],
  EMAIL_VERIFICATION: ['on', 'Required', 'hidden-word'],
  PASSWORD_MIN_LENGTH: ['7', '129', 'long'],
  PWNED_PASSWORDS: [
    './hidden-word',
    '.',
    '/dev/null',
    'ftp://hidden-word/range',
    'https://u:hidden-word@mirror.example',
    'https://mirror.example/range?key=hidden-word',
    'https://',
  ],
  NEW_SIGN_IN_NOTICE: ['yes', 'On'],
  MAX_ORGS_PER_USER: ['0', '100001', 'many'],
  MFA_ISSUER: ['hidden:word', 'x'.repeat(61)],
  OPERATORS_API: ['yes', 'true'],
  OPERATORS_SECOND_FACTOR: ['on', 'Optional'],
  OPERATORS_LOGIN_AGE: ['0s', '31d', 'recent'],
  CROSS_DEVICE_LOGIN: ['on', 'same network', 'Anywhere'],
  API_KEY_LOGIN_AGE: ['0s', '31d', 'recent'],
  API_KEY_MAX_AGE: ['0d', '3651d', 'never'],
  MIGRATIONS: ['yes', 'off'],
  DOCS: ['true', '0'],
  LOG_LEVEL: ['loud', 'INFO'],
  WEB_CONCURRENCY: ['0', 'all', '129'],
};

describe('a wrong configuration', async () => {
  const installation = await anInstallation();
  afterAll(() => installation.remove());

  async function failure(env: Environment): Promise<string[]> {
    const service = runService(installation.directory, { ...installation.env, ...env });
    const code = await exitCode(service);
    expect(code, service.logs.join('\n')).toBe(1);
    return service.stderr;
  }

  /** `accounts config check` finds the same before the start. */
  async function failureOfBoth(env: Environment): Promise<string[]> {
    const lines = await failure(env);
    const { code, stdout, stderr } = await accounts(installation, ['config', 'check'], { env });
    expect({ code, stdout, lines: stderr.trimEnd().split('\n') }).toEqual({ code: 2, stdout: '', lines });
    return lines;
  }

  async function tables(): Promise<unknown[]> {
    return installation.db.query("SELECT name FROM sqlite_master WHERE type = 'table'");
  }

  it.each([
    ['a missing key file', 'none.json', 'production', /^JWT_KEYS_FILE: .*accounts keys create/],
    ['a key file that cannot be read', '.', 'production', /^JWT_KEYS_FILE: /],
    ['a key file that cannot be created', 'jwks.json/keys.json', '', /^JWT_KEYS_FILE: /],
  ])('includes %s, before the database is changed', async (_what, file, NODE_ENV, line) => {
    const fails = NODE_ENV === 'production' ? failureOfBoth : failure;
    const lines = await fails({ NODE_ENV, JWT_KEYS_FILE: join(installation.directory, file) });
    expect(lines).toEqual([expect.stringMatching(line)]);
    expect(await tables()).toEqual([]);
  });

  describe('of variables or keys', () => {
    it('stops the start with one line for each wrong variable, without values', async () => {
      const names = Object.keys(WRONG);
      for (const round of [0, 1, 2]) {
        const values = names.map((name) => [name, WRONG[name]![round % WRONG[name]!.length]!] as const);
        const lines = await failureOfBoth(Object.fromEntries(values));
        const text = lines.join('\n');
        for (const name of names)
          expect(
            lines.filter((line) => line.startsWith(`${name}:`)),
            `${name} in\n${text}`,
          ).toHaveLength(1);
        expect(text).not.toContain('hidden-word');
      }
    });

    it('names only the wrong variables', async () => {
      const lines = await failure({ PORT: 'eighty', LOG_LEVEL: 'info' });
      expect(lines).toEqual([expect.stringMatching(/^PORT: /)]);
    });

    const { privateKey: rsa } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const { privateKey: p384 } = generateKeyPairSync('ec', { namedCurve: 'P-384' });
    const good = aSigningKey().jwk;
    const fileOf = (...keys: object[]) => JSON.stringify({ keys });
    it.each<[string, string]>([
      ['no JSON', 'secret'],
      ['no key set', '{}'],
      ['a bare key', JSON.stringify(good)],
      ['an empty key set', fileOf()],
      ['public keys alone', fileOf({ ...good, d: undefined })],
      ['two keys with one kid', fileOf(good, { ...aSigningKey().jwk, kid: good['kid'] })],
      ['an RSA key', fileOf({ ...rsa.export({ format: 'jwk' }), kid: 'r', alg: 'RS256', use: 'sig' })],
      ['a symmetric key', fileOf({ kty: 'oct', k: 'c2VjcmV0', kid: 's', alg: 'HS256', use: 'sig' })],
      ['another curve', fileOf({ ...p384.export({ format: 'jwk' }), kid: 'p', use: 'sig' })],
      ['a broken key', fileOf({ ...good, x: 'AAAA' })],
      ['a public half of another key', fileOf({ ...aSigningKey().jwk, d: good['d'] })],
    ])('includes a key file with %s', async (_what, content) => {
      const file = join(installation.directory, 'wrong.json');
      await writeFile(file, content, { mode: 0o600 });
      const lines = await failureOfBoth({ JWT_KEYS_FILE: file });
      const text = lines.join('\n');
      expect(lines, text).toEqual([expect.stringMatching(/^JWT_KEYS_FILE: /)]);
      expect(text).not.toContain(good['d']);
      expect(text).not.toMatch(/\n\s+at |node_modules/);
      expect(await tables()).toEqual([]);
    });
  });

  it('includes wrong templates, which the check names together with wrong keys', async () => {
    const other = await anInstallation();
    const templates = join(other.directory, 'templates');
    await mkdir(templates);
    await writeFile(join(templates, 'reset.txt'), 'no subject');
    const mail = { SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'a@example.com', MAIL_TEMPLATES: templates };
    const wrong = runService(other.directory, { ...other.env, ...mail });
    expect(await exitCode(wrong)).toBe(1);

    const env = { ...mail, JWT_KEYS_FILE: '/dev/null' };
    const { code, stderr } = await accounts(other, ['config', 'check'], { env });
    const keys = expect.stringMatching(/^JWT_KEYS_FILE: /) as string;
    expect([code, stderr.trimEnd().split('\n')]).toEqual([2, [keys, ...wrong.stderr]]);
    await other.remove();
  });

  it('includes JWT_AUDIENCE or JWT_ISSUER that is the name of a service, until that is removed', async () => {
    const service = await anInstallation();
    await accountsJson(service, ['migrate']);
    await accountsJson(service, ['services', 'add', 'billing']);
    for (const variable of ['JWT_AUDIENCE', 'JWT_ISSUER']) {
      const process = runService(service.directory, { ...service.env, [variable]: 'billing' });
      expect(await exitCode(process)).toBe(1);
      expect(process.stderr).toEqual([
        `${variable}: a service has this name, so Accounts would accept its access tokens as full ones: set another value, or run accounts services remove billing`,
      ]);
    }

    const env = { JWT_AUDIENCE: 'billing' };
    await accountsJson(service, ['services', 'remove', 'billing'], { env });
    const started = await startOwnService({ installation: service, env });
    expect((await started.anyone.get('/health/live')).status).toBe(200);
    await started.stop();
    await service.remove();
  });

  it.each<[object, RegExp]>([
    [{ HOST: 'nowhere.invalid' }, /^PORT, HOST: cannot listen/],
    [{ HOST: '192.0.2.1' }, /^PORT, HOST: cannot listen/],
    [
      { METRICS_PORT: '0', METRICS_HOST: '192.0.2.1' },
      /^METRICS_PORT, METRICS_HOST: cannot listen on 192\.0\.2\.1:0 \(EADDRNOTAVAIL\)$/,
    ],
  ])('includes a host on which it cannot listen: %j', async (env, line) => {
    expect(await failure({ ...env })).toEqual([expect.stringMatching(line)]);
  });

  it.each([
    ['PORT', 'HOST'],
    ['METRICS_PORT', 'METRICS_HOST'],
  ])('includes an address in %s and %s that is in use, and names it', async (port, host) => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const used = (other.address() as AddressInfo).port;
    const lines = await failure({ [host]: '127.0.0.1', [port]: String(used) });
    other.close();
    expect(lines).toEqual([
      `${port}, ${host}: cannot listen on 127.0.0.1:${used} (EADDRINUSE: another process listens there)`,
    ]);
  });

  it.runIf(process.platform === 'linux').each([
    ['DATABASE_URL', 'sqlite:/proc/none/accounts.sqlite'],
    ['DATABASE_URL', 'sqlite:/proc/accounts.sqlite'],
    ['JWT_KEYS_FILE', '/proc/none/jwks.json'],
  ])('includes a place in %s where nothing can be written: %s', async (name, place) => {
    expect(await failure({ [name]: place })).toEqual([
      expect.stringMatching(new RegExp(`^${name}: .*'/proc/`)),
    ]);
  });
});

describe('a database that does not answer', () => {
  it('is waited for, and the log says so', async () => {
    const installation = await anInstallation();
    const service = spawnService(installation.directory, {
      ...installation.env,
      DATABASE_URL: 'mysql://root:hidden-word@127.0.0.1:1/none',
    });

    const line = await waitFor('it says that it waits', hangTimeoutMs(), () =>
      service.logs.find((text) => text.includes('waiting for the database')),
    );
    expect(service.child.exitCode).toBeNull();
    expect(JSON.parse(line)).toMatchObject({ err: { type: 'Error', code: 'ECONNREFUSED' } });
    service.child.kill('SIGTERM');
    await exitCode(service);

    expect(service.logs.join('\n')).not.toContain('hidden-word');
    await installation.remove();
  });
});

describe('on a Node that is too old', () => {
  it.each([
    ['the service', ['main.js'], 'npm start', 1],
    ['the command line', ['cli/main.js', 'doctor'], 'npm run accounts', 2],
  ])('%s says so in one line', (_what, [file, ...parameters], command, code) => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [resolve(import.meta.dirname, '../../dist', file!), ...parameters],
      { encoding: 'utf8', cwd: tmpdir(), env: { NODE_OPTIONS: AS_AN_OLD_NODE } },
    );
    expect(stderr).toBe(
      `Accounts needs Node.js 24.16 or later, or 26.1 or later (found ${process.versions.node}). Run \`npm ci\`, then \`${command}\`.\n`,
    );
    expect([status, stdout]).toEqual([code, '']);
  });
});
