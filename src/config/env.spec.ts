import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { afterAll, describe, expect, it } from 'vitest';
import { ConfigurationError, parseEnv } from './env.js';

function problemsOf(variables: NodeJS.ProcessEnv): string[] {
  try {
    parseEnv(variables);
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
}

describe('defaults', () => {
  it('needs no variables', () => {
    expect(parseEnv({})).toMatchObject({
      production: false,
      exposedFiles: [],
      host: '127.0.0.1',
      port: 3000,
      metricsPort: undefined,
      metricsHost: '127.0.0.1',
      otlpEndpoint: undefined,
      serviceName: 'accounts',
      tracesSampleRatio: 1,
      database: { engine: 'sqlite', file: './data/accounts.sqlite' },
      databasePoolSize: 20,
      redisUrl: undefined,
      smtp: undefined,
      mailFrom: undefined,
      mailTemplates: undefined,
      jwtKeysFile: './data/jwks.json',
      jwtIssuer: 'accounts',
      jwtAudience: 'accounts',
      mfaIssuer: 'accounts',
      tokenTtl: 86_400,
      accessTokenTtl: 900,
      codeTtl: 60,
      sessionMaxAge: 2_592_000,
      sessionIdle: 1_209_600,
      refreshGrace: 30,
      rateLimitRegister: { limit: 5, windowMs: 3_600_000 },
      rateLimitLogin: { limit: 10, windowMs: 900_000 },
      rateLimitAddress: undefined,
      rateLimitAccount: undefined,
      rateLimitLookup: { limit: 100, windowMs: 3_600_000 },
      rateLimitForgot: { limit: 3, windowMs: 900_000 },
      rateLimitCode: { limit: 10, windowMs: 900_000 },
      rateLimitExport: { limit: 3, windowMs: 900_000 },
      rateLimitWrites: undefined,
      argon2: { memoryKib: 19_456, timeCost: 2, parallelism: 1 },
      trustProxy: [],
      corsOrigins: [],
      passwordMinLength: 8,
      eventsRetention: 34_560_000,
      orgRestoreWindow: 2_592_000,
      maxOrgsPerUser: 500,
      operatorsApi: true,
      operatorsSecondFactor: 'required',
      operatorsLoginAge: 3600,
      migrations: 'run',
      docs: true,
      logLevel: 'info',
      webConcurrency: 1,
    });
  });

  it.each([
    ['accounts', 'accounts'],
    ['https://accounts.example.com:8443/base', 'accounts.example.com'],
    ['urn:example:accounts', 'urn example accounts'],
    [':', 'accounts'],
    ['x'.repeat(100), 'x'.repeat(60)],
  ])('names the service in authenticator apps by JWT_ISSUER: %s is %s', (issuer, name) => {
    expect(parseEnv({ JWT_ISSUER: issuer }).mfaIssuer).toBe(name);
    expect(parseEnv({ JWT_ISSUER: issuer, MFA_ISSUER: 'Analytical Engines' }).mfaIssuer).toBe(
      'Analytical Engines',
    );
  });

  it('serves no documentation in production unless it is told to', () => {
    expect(parseEnv({ NODE_ENV: 'production' }).docs).toBe(false);
    expect(parseEnv({ NODE_ENV: 'production', DOCS: 'on' }).docs).toBe(true);
    expect(parseEnv({ DOCS: 'off' }).docs).toBe(false);
  });

  it('listens on all addresses in production', () => {
    expect(parseEnv({ NODE_ENV: 'production' })).toMatchObject({
      production: true,
      host: '0.0.0.0',
      metricsHost: '0.0.0.0',
    });
  });

  it('has metrics where METRICS_HOST says, else where HOST does', () => {
    const METRICS_PORT = '9464';
    expect(parseEnv({ METRICS_PORT, HOST: '::' })).toMatchObject({ metricsPort: 9464, metricsHost: '::' });
    expect(parseEnv({ METRICS_HOST: '10.0.0.1', HOST: '::' })).toMatchObject({ metricsHost: '10.0.0.1' });
  });

  it('treats an empty variable as unset', () => {
    expect(parseEnv({ PORT: '', TOKEN_TTL: ' ' })).toMatchObject({ port: 3000, tokenTtl: 86_400 });
  });
});

describe('DATABASE_URL', () => {
  it.each([
    ['mysql://app:p%40ss@db.internal:3307/accounts', 'app', 'p@ss', [{ host: 'db.internal', port: 3307 }]],
    ['mariadb://app@db/accounts', 'app', '', [{ host: 'db', port: 3306 }]],
    [
      'mysql://app:x@one,two:3307,[::1]:3308/accounts',
      'app',
      'x',
      [
        { host: 'one', port: 3306 },
        { host: 'two', port: 3307 },
        { host: '::1', port: 3308 },
      ],
    ],
  ])('%s', (url, user, password, hosts) => {
    const { database } = parseEnv({ DATABASE_URL: url });
    expect(database).toEqual({ engine: 'mysql', user, password, database: 'accounts', hosts });
  });

  it.each([
    'postgres://a:b@c/d',
    'mysql://host/db',
    'mysql://a:b@host:99999/db',
    'mysql://a:b@/db',
    'sqlite:',
    'sqlite::memory:',
    'sqlite:file:data/accounts.sqlite?mode=ro',
  ])('refuses %s', (url) => {
    expect(problemsOf({ DATABASE_URL: url })).toEqual([
      'DATABASE_URL: expected sqlite:FILE or mysql://user:password@host:port/database',
    ]);
  });
});

describe('SMTP_URL and MAIL_FROM', () => {
  const MAIL_FROM = 'Accounts <no-reply@example.com>';

  it.each([
    ['smtp://mail.internal', { host: 'mail.internal', port: 587, secure: false, requireTls: false }],
    ['smtp://127.0.0.1:1025/', { host: '127.0.0.1', port: 1025, secure: false, requireTls: false }],
    ['smtps://[::1]', { host: '::1', port: 465, secure: true, requireTls: false }],
    [
      'smtp://app%40x:p%40ss@mail:25',
      { port: 25, requireTls: true, login: { user: 'app@x', password: 'p@ss' } },
    ],
  ])('%s', (url, server) => {
    expect(parseEnv({ SMTP_URL: url, MAIL_FROM }).smtp).toMatchObject(server);
  });

  it.each([
    'mail:25',
    'http://mail',
    'smtp://',
    'smtp://mail:99999',
    'smtp://mail/?tls=off',
    'smtp://user@mail',
    'smtp://:hidden@mail',
    'smtp://%ff:x@mail',
  ])('refuses %s', (url) => {
    expect(problemsOf({ SMTP_URL: url, MAIL_FROM })).toEqual([expect.stringMatching(/^SMTP_URL: expected /)]);
  });

  it.each([
    ['no-reply@example.com', { name: '', address: 'no-reply@example.com' }],
    [MAIL_FROM, { name: 'Accounts', address: 'no-reply@example.com' }],
    ['"Acme, Inc." <a@b.co>', { name: 'Acme, Inc.', address: 'a@b.co' }],
  ])('%s', (from, sender) => {
    expect(parseEnv({ SMTP_URL: 'smtp://mail', MAIL_FROM: from }).mailFrom).toEqual(sender);
  });

  it.each(['', 'Accounts', 'a@b@c.co', 'a b@c.co', 'A <a@b.co>, B <b@b.co>', 'A\nBcc: x@y.z <a@b.co>'])(
    'refuses %j',
    (from) => {
      expect(problemsOf({ SMTP_URL: 'smtp://mail', MAIL_FROM: from })).toEqual([
        expect.stringMatching(/^MAIL_FROM: expected /),
      ]);
    },
  );
});

describe('certificates', () => {
  const directory = mkdtempSync(join(tmpdir(), 'accounts-unit-'));
  afterAll(() => rmSync(directory, { recursive: true }));

  const file = (content: string): string => {
    const name = join(directory, randomUUID());
    writeFileSync(name, content);
    return name;
  };
  const [one, two] = rootCertificates as [string, string];
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const secret = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  const mysql = 'mysql://app@db/accounts';

  it('are not required by default', () => {
    expect(parseEnv({ DATABASE_URL: mysql }).database).not.toHaveProperty('tls');
  });

  it.each(['required', 'verify'])('default to those of Node: DATABASE_SSL=%s', (mode) => {
    expect(parseEnv({ DATABASE_URL: mysql, DATABASE_SSL: mode }).database).toMatchObject({
      tls: { mode, ca: undefined },
    });
  });

  it.each(['required', 'verify'])('are all read from a file, without its other contents: %s', (mode) => {
    const name = file(`${secret}\nissuer: somebody\n${one}\n${two}`);
    const env = parseEnv({
      DATABASE_URL: mysql,
      DATABASE_SSL: mode,
      DATABASE_SSL_CA: name,
      REDIS_URL: 'rediss://cache:6379',
      REDIS_SSL_CA: name,
    });
    expect(env.database).toMatchObject({ tls: { mode, ca: env.redisCa } });
    expect(env.redisCa?.match(/BEGIN [A-Z ]+/g)).toEqual(['BEGIN CERTIFICATE', 'BEGIN CERTIFICATE']);
    expect(env.redisCa?.replaceAll('\n', '')).toBe(`${one}${two}`.replaceAll('\n', ''));
  });

  it.each([
    ['a file that is not there', () => join(directory, 'none')],
    ['a directory', () => directory],
    ['an empty file', () => file('')],
    ['a key', () => file(secret)],
    ['a broken certificate', () => file(one.replace(/[A-Za-z]{20}/, 'A'.repeat(20)))],
    ['a broken certificate after a good one', () => file(`${one}\n${two.slice(0, 200)}\n${two.slice(-30)}`)],
  ])('are not read from %s', (_what, name) => {
    const tls = { DATABASE_URL: mysql, DATABASE_SSL: 'verify', DATABASE_SSL_CA: name() };
    expect(problemsOf({ ...tls, REDIS_URL: 'rediss://cache', REDIS_SSL_CA: name() })).toEqual([
      'DATABASE_SSL_CA: expected a readable PEM file with certificates',
      'REDIS_SSL_CA: expected a readable PEM file with certificates',
    ]);
  });

  it('are refused without TLS, as is TLS for a file', () => {
    const name = file(one);
    expect(problemsOf({ DATABASE_URL: mysql, DATABASE_SSL_CA: name })).toEqual([
      'DATABASE_SSL_CA: may be set only with DATABASE_SSL=required or verify',
    ]);
    expect(problemsOf({ REDIS_URL: 'redis://cache', REDIS_SSL_CA: name })).toEqual([
      'REDIS_SSL_CA: may be set only with rediss://',
    ]);
    expect(problemsOf({ DATABASE_SSL: 'required' })).toEqual(['DATABASE_SSL: may be set only with mysql://']);
  });
});

describe('wrong values', () => {
  it('names every wrong variable at once and shows no value', () => {
    const secret = 'mysql://root:hunter2@';
    const problems = problemsOf({ DATABASE_URL: secret, PORT: '70000', CODE_TTL: '11m', DOCS: 'yes' });
    expect(problems.map((line) => line.split(':')[0])).toEqual(['PORT', 'DATABASE_URL', 'CODE_TTL', 'DOCS']);
    expect(problems.join()).not.toContain('hunter2');
  });

  it.each([
    ['TRUST_PROXY', '1'],
    ['TRUST_PROXY', 'true'],
    ['TRUST_PROXY', 'loopback'],
    ['TRUST_PROXY', '10.0.0.0/33'],
    ['TRUST_PROXY', '10.0.0.1, all'],
    ['TRUST_PROXY', '0.0.0.0/0'],
    ['TRUST_PROXY', '10.0.0.1,::/0'],
    ['TRUST_PROXY', '::ffff:0:0/96'],
    ['TRUST_PROXY', '0.0.0.0/1,128.0.0.0/1'],
    ['TRUST_PROXY', '2000::/3'],
    ['CORS_ORIGINS', '*'],
    ['CORS_ORIGINS', 'null'],
    ['CORS_ORIGINS', 'https://app.example.com/'],
    ['CORS_ORIGINS', 'https://App.example.com'],
    ['MFA_ISSUER', 'Accounts: production'],
    ['MFA_ISSUER', 'x'.repeat(61)],
    ['PASSWORD_MIN_LENGTH', '7'],
    ['MAX_ORGS_PER_USER', '0'],
    ['MAX_ORGS_PER_USER', '100001'],
    ['TOKEN_TTL', '24'],
    ['TOKEN_TTL', '0s'],
    ['RATE_LIMIT_LOGIN', '10'],
    ['RATE_LIMIT_LOGIN', '0/15m'],
    ['RATE_LIMIT_ADDRESS', 'on'],
    ['RATE_LIMIT_LOOKUP', '100'],
    ['ARGON2_MEMORY_KIB', '12.5'],
    ['MIGRATIONS', 'auto'],
    ['LOG_LEVEL', 'loud'],
    ['DATABASE_SSL', 'on'],
    ['DATABASE_SSL', 'VERIFY'],
    ['WEB_CONCURRENCY', '0'],
    ['WEB_CONCURRENCY', 'all'],
    ['REDIS_URL', 'localhost:6379'],
  ])('%s=%s', (name, value) => {
    expect(problemsOf({ [name]: value })).toEqual([expect.stringMatching(new RegExp(`^${name}: expected `))]);
  });
});

describe('lists and switches', () => {
  it('reads addresses, ranges and origins', () => {
    const env = parseEnv({
      TRUST_PROXY: '10.0.0.0/8, 127.0.0.1,fd00::/8',
      CORS_ORIGINS: 'tauri://localhost,https://app.example.com:8443',
      RATE_LIMIT_LOGIN: 'off',
      RATE_LIMIT_ADDRESS: '300/15m',
      RATE_LIMIT_LOOKUP: 'off',
    });
    expect(env.trustProxy.map(([network, length]) => `${network.toString()}/${length}`)).toEqual([
      '10.0.0.0/8',
      '127.0.0.1/32',
      'fd00::/8',
    ]);
    expect(env.corsOrigins).toEqual(['tauri://localhost', 'https://app.example.com:8443']);
    expect(env.rateLimitLogin).toBeUndefined();
    expect(env.rateLimitAddress).toEqual({ limit: 300, windowMs: 900_000 });
    expect(env.rateLimitLookup).toBeUndefined();
  });
});
