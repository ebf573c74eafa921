import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { rootCertificates } from 'node:tls';
import { afterAll, describe, expect, it } from 'vitest';
import { parseEnv, workersFor } from './env.js';
import { ConfigurationError, isReadByOthers } from './variables.js';
import { startWarnings } from './warnings.js';

const directory = mkdtempSync(join(tmpdir(), 'accounts-unit-'));
afterAll(() => rmSync(directory, { recursive: true }));

function aFile(content: string): string {
  const name = join(directory, randomUUID());
  writeFileSync(name, content);
  return name;
}

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
      mailTimeZone: 'UTC',
      mailProductName: 'Accounts',
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
      rateLimitIp: undefined,
      rateLimitFailedLogins: undefined,
      rateLimitLookup: { limit: 100, windowMs: 3_600_000 },
      rateLimitForgot: { limit: 3, windowMs: 900_000 },
      rateLimitCode: { limit: 10, windowMs: 900_000 },
      rateLimitExport: { limit: 3, windowMs: 900_000 },
      rateLimitProvider: { limit: 30, windowMs: 900_000 },
      rateLimitWrites: undefined,
      argon2: { memoryKib: 19_456, timeCost: 2, parallelism: 1 },
      trustProxy: [],
      corsOrigins: [],
      registration: 'open',
      registrationDomains: undefined,
      emailVerification: 'optional',
      passwordMinLength: 8,
      pwnedPasswords: undefined,
      newSignInNotice: false,
      eventsRetention: 34_560_000,
      orgRestoreWindow: 2_592_000,
      maxOrgsPerUser: 500,
      crossDeviceLogin: 'off',
      operatorsApi: true,
      operatorsSecondFactor: 'required',
      operatorsLoginAge: 3600,
      apiKeyLoginAge: 900,
      apiKeyMaxAge: 31_536_000,
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

  it.each([
    ['accounts', 'Accounts'],
    ['https://accounts.example.com:8443/base', 'accounts.example.com'],
    ['urn:example:accounts', 'Accounts'],
  ])('names the product in subjects of emails by JWT_ISSUER: %s is %s', (issuer, name) => {
    expect(parseEnv({ JWT_ISSUER: issuer }).mailProductName).toBe(name);
    expect(parseEnv({ JWT_ISSUER: issuer, MAIL_PRODUCT_NAME: 'Bücher' }).mailProductName).toBe('Bücher');
  });

  it('listens on all addresses in production, and serves no documentation unless it is told to', () => {
    const all = { production: true, host: '0.0.0.0', metricsHost: '0.0.0.0', docs: false };
    expect(parseEnv({ NODE_ENV: 'production' })).toMatchObject(all);
    expect(parseEnv({ NODE_ENV: 'production', DOCS: 'on' }).docs).toBe(true);
    expect(parseEnv({ DOCS: 'off' }).docs).toBe(false);
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
    'mysql://host/db',
    'mysql://a:b@host:99999/db',
    'mysql://a:b@/db',
    'sqlite::memory:',
    'sqlite:file:a',
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
    ['file:./data/mails', resolve('data/mails')],
    ['file:mails', resolve('mails')],
    ['file:/var/mails', '/var/mails'],
    ['file:///var/mails', '/var/mails'],
  ])('%s is a directory, with a sender by default', (url, expected) => {
    const { smtp, mailFrom, newSignInNotice } = parseEnv({ SMTP_URL: url, EMAIL_VERIFICATION: 'required' });
    expect(smtp).toEqual({ directory: expected });
    expect(mailFrom).toEqual({ name: '', address: 'accounts@localhost' });
    expect(newSignInNotice).toBe(true);
    expect(parseEnv({ SMTP_URL: url, MAIL_FROM }).mailFrom).toEqual(
      parseEnv({ SMTP_URL: 'smtp://mail', MAIL_FROM }).mailFrom,
    );
  });

  it.each(['file:', 'file://', 'file://host/mails', 'file:./mails?x', 'file:./mails#x'])(
    '%s is no directory',
    (url) => {
      expect(problemsOf({ SMTP_URL: url })).toEqual([expect.stringMatching(/^SMTP_URL: expected file: /)]);
    },
  );

  it('a directory is refused in production', () => {
    const production = { NODE_ENV: 'production', SMTP_URL: 'file:./hidden-word' };
    expect(problemsOf(production)).toEqual(['SMTP_URL: expected a mail server in production']);
  });

  it.each([
    './data/mails',
    'smtp://',
    'smtp://mail:99999',
    'smtp://mail/?tls=off',
    'smtp://user@mail',
    'smtp://%ff:x@mail',
  ])('refuses %s', (url) => {
    expect(problemsOf({ SMTP_URL: url, MAIL_FROM })).toEqual([
      'SMTP_URL: expected smtp://user:password@host:port, smtps://… or file:./data/mails',
    ]);
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
    const name = aFile(`${secret}\nissuer: somebody\n${one}\n${two}`);
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
    ['a key', () => aFile(secret)],
    ['a broken certificate', () => aFile(one.replace(/[A-Za-z]{20}/, 'A'.repeat(20)))],
    ['a broken certificate after a good one', () => aFile(`${one}\n${two.slice(0, 200)}\n${two.slice(-30)}`)],
  ])('are not read from %s', (_what, name) => {
    const tls = { DATABASE_URL: mysql, DATABASE_SSL: 'verify', DATABASE_SSL_CA: name() };
    expect(problemsOf({ ...tls, REDIS_URL: 'rediss://cache', REDIS_SSL_CA: name() })).toEqual([
      'DATABASE_SSL_CA: expected a readable PEM file with certificates',
      'REDIS_SSL_CA: expected a readable PEM file with certificates',
    ]);
  });

  it('are refused without TLS, as is TLS for a file', () => {
    const name = aFile(one);
    expect(problemsOf({ DATABASE_URL: mysql, DATABASE_SSL_CA: name })).toEqual([
      'DATABASE_SSL_CA: may be set only with DATABASE_SSL=required or verify',
    ]);
    expect(problemsOf({ REDIS_URL: 'redis://cache', REDIS_SSL_CA: name })).toEqual([
      'REDIS_SSL_CA: may be set only with rediss://',
    ]);
    expect(problemsOf({ DATABASE_SSL: 'required' })).toEqual(['DATABASE_SSL: may be set only with mysql://']);
  });
});

/** Refused beside those of test/config/start-up-errors.e2e-spec.ts. */
const WRONG: Record<string, string[]> = {
  TRUST_PROXY: ['loopback', '10.0.0.1, all', '0.0.0.0/0', '10.0.0.1,::/0', '0.0.0.0/1,128.0.0.0/1'],
  CORS_ORIGINS: ['https://App.example.com'],
  REDIS_URL: ['localhost:6379'],
  REGISTRATION_DOMAINS: [
    ...',|, ,|example.com.|.example.com|@example.com|*.example.com|localhost|exa mple.com|127.0.0.1'.split(
      '|',
    ),
    `example.com,${'x'.repeat(10_000)}.example.com`,
  ],
};

describe('wrong values', () => {
  it('names every wrong variable at once and shows no value', () => {
    const secret = 'mysql://root:hunter2@';
    const problems = problemsOf({ DATABASE_URL: secret, PORT: '70000', CODE_TTL: '11m', DOCS: 'yes' });
    expect(problems.map((line) => line.split(':')[0])).toEqual(['PORT', 'DATABASE_URL', 'CODE_TTL', 'DOCS']);
    expect(problems.join()).not.toContain('hunter2');
  });

  it.each(Object.entries(WRONG).flatMap(([name, values]) => values.map((value) => [name, value] as const)))(
    '%s=%s',
    (name, value) => {
      expect(problemsOf({ [name]: value })).toEqual([
        expect.stringMatching(new RegExp(`^${name}: expected `)),
      ]);
    },
  );
});

it('reads domains in the normal form of emails, in long lists too', () => {
  const domainsOf = (text: string) => parseEnv({ REGISTRATION_DOMAINS: text }).registrationDomains;
  expect(domainsOf(' Example.COM,, BÜCHER.example ,xn--bcher-kva.example')).toEqual([
    'example.com',
    'xn--bcher-kva.example',
    'xn--bcher-kva.example',
  ]);
  expect(domainsOf(' ')).toBeUndefined();
  const many = Array.from({ length: 700 }, (_, index) => `d${index}.example.com`);
  expect(domainsOf(many.join(','))).toEqual(many);
});

it('requires verified emails only with a mail server', () => {
  const EMAIL_VERIFICATION = 'required';
  expect(problemsOf({ EMAIL_VERIFICATION })).toEqual([
    'EMAIL_VERIFICATION: may be required only with SMTP_URL',
  ]);
  const withMail = { EMAIL_VERIFICATION, SMTP_URL: 'smtp://mail:25', MAIL_FROM: 'a@b.co' };
  expect(parseEnv(withMail).emailVerification).toBe('required');
});

it('reads lists of addresses, ranges and origins, and switches limits off', () => {
  const env = parseEnv({
    TRUST_PROXY: '10.0.0.0/8, 127.0.0.1,fd00::/8',
    CORS_ORIGINS: 'tauri://localhost,https://app.example.com:8443',
    RATE_LIMIT_LOGIN: 'off',
    RATE_LIMIT_IP: '300/15m',
  });
  const ranges = env.trustProxy.map(([network, length]) => `${network.toString()}/${length}`);
  expect(ranges).toEqual(['10.0.0.0/8', '127.0.0.1/32', 'fd00::/8']);
  expect(env.corsOrigins).toEqual(['tauri://localhost', 'https://app.example.com:8443']);
  expect(env.rateLimitLogin).toBeUndefined();
  expect(env.rateLimitIp).toEqual({ limit: 300, windowMs: 900_000 });
});

const UNUSABLE = 'expected a readable file of at most 16 KiB that is not empty';

describe('a URL in a file', () => {
  it.each(['', '\n', '\r\n'])('is read without the end of its line: %j', (end) => {
    const env = parseEnv({
      DATABASE_URL_FILE: aFile(`mysql://a:hunter2@db/accounts${end}`),
      REDIS_URL_FILE: aFile(`rediss://redis:6380${end}`),
      SMTP_URL_FILE: aFile(`smtps://mail.example.com${end}`),
      MAIL_FROM: 'accounts@example.com',
    });

    expect(env).toMatchObject({
      database: { engine: 'mysql', password: 'hunter2', database: 'accounts' },
      redisUrl: 'rediss://redis:6380',
      smtp: { host: 'mail.example.com', secure: true },
    });
  });

  it('is told apart where others can read it', () => {
    const [shown, hidden] = [aFile('mysql://a:hunter2@db/accounts'), aFile('redis://redis')];
    chmodSync(shown, 0o640);
    chmodSync(hidden, 0o600);

    expect(parseEnv({ DATABASE_URL_FILE: shown, REDIS_URL_FILE: hidden }).exposedFiles).toEqual([
      'DATABASE_URL_FILE',
    ]);
  });

  it.skipIf(process.geteuid?.() !== 0).each([
    { mode: 0o400, owner: 1000, process: 1000, isExposed: false },
    { mode: 0o440, owner: 1000, process: 1000, isExposed: true },
    { mode: 0o404, owner: 1000, process: 1000, isExposed: true },
    { mode: 0o440, owner: 1000, process: 1001, isExposed: true },
    // A Secret of Kubernetes with fsGroup.
    { mode: 0o440, owner: 0, process: 1000, isExposed: false },
    { mode: 0o444, owner: 0, process: 1000, isExposed: true },
    { mode: 0o440, owner: 0, process: 0, isExposed: true },
  ])('has mode $mode, of user $owner, read by user $process: $isExposed', ({ mode, owner, ...rest }) => {
    const file = aFile('mysql://a:hunter2@db/accounts');
    chownSync(file, owner, owner);
    chmodSync(file, mode);

    expect(isReadByOthers(file, rest.process)).toBe(rest.isExposed);
  });

  // The systemd unit sets a default for DATABASE_URL.
  it('wins over its variable', () => {
    const env = parseEnv({
      DATABASE_URL: 'sqlite:./a.sqlite',
      DATABASE_URL_FILE: aFile('mysql://a:hunter2@db/accounts'),
      DATABASE_SSL: 'required',
      REDIS_URL: 'redis://elsewhere',
      REDIS_URL_FILE: aFile('redis://redis'),
      SMTP_URL: 'smtp://elsewhere.example.com',
      SMTP_URL_FILE: aFile('smtp://mail.example.com'),
      MAIL_FROM: 'accounts@example.com',
    });

    expect(env).toMatchObject({
      database: { engine: 'mysql', database: 'accounts', tls: { mode: 'required' } },
      redisUrl: 'redis://redis',
      smtp: { host: 'mail.example.com' },
    });
  });

  it('is refused by the name of its variable, without its text', () => {
    const problems = problemsOf({ DATABASE_URL_FILE: aFile('postgres://a:hunter2@db/accounts') });

    expect(problems).toEqual([expect.stringMatching(/^DATABASE_URL_FILE: expected a file with sqlite:FILE/)]);
    expect(problems.join()).not.toContain('hunter2');
  });

  it.each([
    ['is empty', () => aFile('\n')],
    ['is too long', () => aFile('x'.repeat(16 * 1024 + 1))],
    [
      'is a pipe, which nobody writes to',
      () => {
        const pipe = join(directory, 'pipe');
        execFileSync('mkfifo', [pipe]);
        return pipe;
      },
    ],
  ])('is refused when the file %s', (_what, make) => {
    expect(problemsOf({ DATABASE_URL_FILE: make() })).toEqual([`DATABASE_URL_FILE: ${UNUSABLE}`]);
  });

  it.skipIf(process.getuid?.() === 0)('is refused when the file may not be read', () => {
    const file = aFile('sqlite:./a.sqlite');
    chmodSync(file, 0);

    expect(problemsOf({ DATABASE_URL_FILE: file })).toEqual([`DATABASE_URL_FILE: ${UNUSABLE}`]);
  });
});

describe('a name that is nearly one of ours', () => {
  it.each([
    ['DATABASE_ULR', 'DATABASE_URL'],
    ['DATABASE_URI', 'DATABASE_URL'],
    ['DATABASE_URL_FIEL', 'DATABASE_URL_FILE'],
    ['RATE_LIMIT_REGISTRATIONS', 'RATE_LIMIT_REGISTER'],
    ['ARGON2_MEMORY_KB', 'ARGON2_MEMORY_KIB'],
    ['CORS_ORIGIN', 'CORS_ORIGINS'],
    ['SESSION_MAXAGE', 'SESSION_MAX_AGE'],
    ['NODE_EVN', 'NODE_ENV'],
    ['TRUSTED_PROXY', 'TRUST_PROXY'],
    ['TRUST_PROXIES', 'TRUST_PROXY'],
    ['PROXY_TRUST', 'TRUST_PROXY'],
    ['LIMIT_RATE_IP', 'RATE_LIMIT_IP'],
    ['URL_DATABASE', 'DATABASE_URL'],
    ['AGES_MAX_SESSIONS', 'SESSION_MAX_AGE'],
    ['TEMPLATE_MAIL', 'MAIL_TEMPLATES'],
  ])('%s stops the start, and %s is named', (name, meant) => {
    expect(problemsOf({ [name]: 'hidden-word' })).toEqual([
      `${name}: there is no such variable; the nearest is ${meant}`,
    ]);
  });

  it('is no mistake while it is empty', () => {
    expect(problemsOf({ DATABSE_URL: '' })).toEqual([]);
  });

  it('is shown without its value, and no longer than ours are', () => {
    const [line, ...others] = problemsOf({ [`RATE_LIMIT_${'X'.repeat(10_000)}`]: 'hidden-word' });

    expect(others).toEqual([]);
    expect(line!.length).toBeLessThan(200);
    expect(line).not.toContain('hidden-word');
  });
});

describe('a name with one word more than one of ours', () => {
  const doubtsOf = (...names: string[]) =>
    parseEnv(Object.fromEntries(names.map((name) => [name, 'hidden-word']))).doubtfulNames;

  it.each([
    ['SMTP_SERVER_URL', 'SMTP_URL'],
    ['ACCOUNTS_TRUST_PROXY', 'TRUST_PROXY'],
    ['TRUSTED_PROXY_IPS', 'TRUST_PROXY'],
    ['JWT_ISSUER_URL', 'JWT_ISSUER'],
    ['DATABASE_URL_TEST', 'DATABASE_URL'],
  ])('%s starts with a warning that names %s', (name, meant) => {
    expect(problemsOf({ [name]: 'hidden-word' })).toEqual([]);
    expect(doubtsOf(name)).toEqual([{ name, meant }]);
    const warning = `${name}: there is no such variable; if you mean ${meant}, correct the name`;
    expect(startWarnings(parseEnv({ [name]: 'hidden-word' }))).toEqual([warning]);
  });

  it.each([
    ['two words more', 'SMTP_MAIN_SERVER_URL'],
    ['one word less', 'SESSION_AGE'],
    ['a name of one word, and one more', 'ACCOUNTS_PORT'],
    ['one word of two', 'HTTP_PROXY'],
    ['a name of OpenTelemetry', 'OTEL_MY_SERVICE_NAME'],
    ['a name of OpenTelemetry for one of ours', 'OTEL_LOG_LEVEL'],
    ['the same words in small letters', 'smtp_server_url'],
    ['an endless name', `DATABASE_URL_${'X'.repeat(10_000)}`],
  ])('is not %s: %s', (_what, name) => {
    expect(doubtsOf(name)).toEqual([]);
  });

  it('is no mistake while it is empty, and none if it is one of ours', () => {
    expect(
      parseEnv({ SMTP_SERVER_URL: ' ', DATABASE_SSL: 'required', DATABASE_URL: 'mysql://a@b/c' }),
    ).toMatchObject({
      doubtfulNames: [],
    });
  });
});

/** From shells and Node, other programs and platforms, and links of Kubernetes to services named redis, mail and so on. */
const FOREIGN_NAMES = `
  PATH HOME HOSTNAME PWD SHLVL LANG TERM USER LOGNAME TZ POST _
  NODE_PATH NODE_OPTIONS NODE_COMPILE_CACHE NODE_VERSION npm_config_cache HTTP_PROXY HTTPS_PROXY NO_PROXY
  XDG_SESSION_ID SESSION_ID SESSION_MANAGER INVOCATION_ID CREDENTIALS_DIRECTORY MAIL
  DATABASE_HOST DATABASE_PORT DATABASE_NAME DATABASE_USER DATABASE_PASSWORD DB_PASSWORD
  REDIS_HOST REDIS_PASSWORD SMTP_HOST SMTP_USER SMTP_PASSWORD MAIL_HOST JWT_SECRET
  OTEL_TRACES_SAMPLER OTEL_RESOURCE_ATTRIBUTES OTEL_EXPORTER_OTLP_PROTOCOL OTEL_LOG_LEVEL
  REDIS_PORT REDIS_SERVICE_HOST REDIS_SERVICE_PORT REDIS_PORT_6379_TCP REDIS_PORT_6379_TCP_ADDR
  MAIL_PORT MAIL_SERVICE_PORT ACCOUNTS_PORT ACCOUNTS_SERVICE_HOST DATABASE_SERVICE_PORT
  KUBERNETES_PORT KUBERNETES_SERVICE_HOST
`;

it.each(FOREIGN_NAMES.trim().split(/\s+/))('%s may be somebody else’s', (name) => {
  const others = { [name]: 'tcp://10.0.0.1:6379' };
  expect(problemsOf(others)).toEqual([]);
  expect(parseEnv(others).doubtfulNames).toEqual([]);
});

/** Every limit that the configuration reads, also one that was added after this test. */
const LIMITS = namesRead().filter((name) => name.startsWith('RATE_LIMIT_'));
const ALL_OFF = Object.fromEntries(LIMITS.map((name) => [name, 'off']));

function namesRead(): string[] {
  const names = new Set<string>();
  parseEnv(new Proxy<NodeJS.ProcessEnv>({}, { get: (_, name) => void names.add(String(name)) }));
  return [...names];
}

const workersWith = (variables: Record<string, string>): number =>
  workersFor(
    parseEnv({ DATABASE_URL: 'mysql://a:b@db/accounts', WEB_CONCURRENCY: '3', ...ALL_OFF, ...variables }),
  ).workers;

describe('the number of workers', () => {
  it('is the configured number where limits are off or shared in Redis', () => {
    expect(workersWith({})).toBe(3);
    for (const name of LIMITS) expect(workersWith({ [name]: '5/1h', REDIS_URL: 'redis://r:6379' })).toBe(3);
  });

  it('knows all limits', () => {
    expect(LIMITS.length).toBeGreaterThanOrEqual(7);
  });

  it.each(LIMITS)('is one where each process would count %s by itself', (name) => {
    expect(workersWith({ [name]: '5/1h' })).toBe(1);
  });

  it('is one on SQLite', () => {
    expect(workersWith({ DATABASE_URL: 'sqlite:./a.sqlite' })).toBe(1);
  });
});

describe('the list of breached passwords', () => {
  it.each([
    ['https://api.pwnedpasswords.com', 'https://api.pwnedpasswords.com/range/'],
    ['https://api.pwnedpasswords.com/range/', 'https://api.pwnedpasswords.com/range/'],
    ['http://range/mirror/range', 'http://range/mirror/range/'],
    ['http://127.0.0.1:8080/orange/', 'http://127.0.0.1:8080/orange/range/'],
  ])('is the range API of %s', (text, url) => {
    expect(parseEnv({ PWNED_PASSWORDS: text }).pwnedPasswords).toEqual({ kind: 'api', url });
  });
});

it('tells of new sign-ins where there is a mail server, unless it is told not to', () => {
  const mail = { SMTP_URL: 'smtp://mail:25', MAIL_FROM: 'accounts@example.com' };
  expect(parseEnv(mail).newSignInNotice).toBe(true);
  expect(parseEnv({ ...mail, NEW_SIGN_IN_NOTICE: 'off' }).newSignInNotice).toBe(false);
  expect(parseEnv({ NEW_SIGN_IN_NOTICE: 'on' }).newSignInNotice).toBe(true);
});
