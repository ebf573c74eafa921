import { readCertificates } from './certificates.js';
import { parseDatabaseUrl } from './database-url.js';
import {
  Env,
  type MailSender,
  type MysqlLocation,
  type RateLimit,
  type SmtpServer,
  type SqliteLocation,
} from './env.js';
import { parseIpRange } from './ip-address.js';
import { parseMailSender, parseSmtpUrl } from './smtp.js';
import { parseDuration, parseExactOrigin, parseRateLimit } from './values.js';
import { Variables } from './variables.js';

const TRUSTED_RANGES =
  'IP addresses and CIDR ranges no wider than /8 (IPv6: /7), because a trusted host can claim any client address';
const MAX_REFRESH_GRACE_SECONDS = 600;
const MAX_PORT = 65_535;
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];

/** Holds a line for each wrong variable, without its value, which may be a secret. */
export class ConfigurationError extends Error {
  constructor(readonly problems: string[]) {
    super(problems.join('\n'));
  }
}

export function parseEnv(environment: NodeJS.ProcessEnv): Env {
  const variables = new Variables(environment);
  const { problems } = variables;

  function read<T>(
    name: string,
    fallback: string,
    expected: string,
    parse: (text: string) => T | undefined,
  ): T {
    const value = parse(variables.get(name) || fallback);
    if (value === undefined) variables.expect(name, expected);
    return value as T;
  }
  const integer = (name: string, fallback: number, min: number, max: number): number =>
    read(name, String(fallback), `a whole number from ${min} to ${max}`, (text) => {
      const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
      return value >= min && value <= max ? value : undefined;
    });
  const duration = (name: string, fallback: string, maxSeconds: number, most: string): number =>
    read(name, fallback, `a duration such as 60s, 15m, 24h or 30d, at most ${most}`, (text) => {
      const seconds = parseDuration(text);
      return seconds !== undefined && seconds <= maxSeconds ? seconds : undefined;
    });
  const oneOf = <T extends string>(name: string, fallback: T, values: readonly T[]): T =>
    read(name, fallback, `one of ${values.join(', ')}`, (text) => values.find((value) => value === text));
  const text = (name: string, fallback: string): string =>
    read(name, fallback, 'text', (value) => value || undefined);
  const list = <T>(name: string, expected: string, parse: (item: string) => T | undefined): T[] =>
    read(name, '', `a comma-separated list of ${expected}`, (value) => {
      const items = value.split(',').map((item) => item.trim());
      const parsed = items.filter((item) => item !== '').map(parse);
      return parsed.every((item) => item !== undefined) ? parsed : undefined;
    });
  const limit = (name: string, fallback: string): RateLimit | undefined => {
    const rule = read(name, fallback, 'limit/window such as 5/1h, or off', (value) =>
      value === 'off' ? ('off' as const) : parseRateLimit(value),
    );
    return rule === 'off' ? undefined : rule;
  };
  const certificates = (name: string, condition: string, holds: boolean): string | undefined => {
    if (variables.get(name) === '') return undefined;
    if (holds) return read(name, '', 'a readable PEM file with certificates', readCertificates);
    problems.push(`${name}: may be set only with ${condition}`);
    return undefined;
  };
  const database = (): SqliteLocation | MysqlLocation => {
    const expected = 'sqlite:FILE or mysql://user:password@host:port/database';
    const location = read('DATABASE_URL', 'sqlite:./data/accounts.sqlite', expected, parseDatabaseUrl);
    const mode = oneOf('DATABASE_SSL', 'off', ['off', 'required', 'verify']);
    const ca = certificates('DATABASE_SSL_CA', 'DATABASE_SSL=required or verify', mode !== 'off');
    if (location === undefined || (mode !== 'required' && mode !== 'verify')) return location;
    if (location.engine === 'mysql') return { ...location, tls: { mode, ca } };
    problems.push('DATABASE_SSL: may be set only with mysql://');
    return location;
  };
  const smtp = (): SmtpServer | undefined => {
    const isSet = variables.get('SMTP_URL') !== '';
    const ca = certificates('SMTP_SSL_CA', 'SMTP_URL', isSet);
    if (!isSet) return undefined;
    const server = read('SMTP_URL', '', 'smtp://user:password@host:port or smtps://…', parseSmtpUrl);
    // A password goes over TLS only, and an operator who names an authority wants to be sure of the server.
    return server && { ...server, ca, requireTls: server.login !== undefined || ca !== undefined };
  };
  const mailFrom = (): MailSender | undefined => {
    if (variables.get('SMTP_URL') + variables.get('MAIL_FROM') === '') return undefined;
    return read('MAIL_FROM', '', 'address@domain or Name <address@domain>, with SMTP_URL', parseMailSender);
  };

  const production = variables.get('NODE_ENV') === 'production';
  const host = text('HOST', production ? '0.0.0.0' : '127.0.0.1');
  const env = new Env({
    production,
    exposedFiles: variables.exposed,
    host,
    port: integer('PORT', 3000, 0, MAX_PORT),
    metricsPort: variables.get('METRICS_PORT') ? integer('METRICS_PORT', 0, 0, MAX_PORT) : undefined,
    metricsHost: text('METRICS_HOST', host),
    otlpEndpoint:
      read<string | null>(
        'OTEL_EXPORTER_OTLP_ENDPOINT',
        '',
        'http://host:port or https://host:port',
        (value) => {
          if (value === '') return null;
          return /^https?:\/\/\S+$/.test(value) && URL.canParse(value) ? value : undefined;
        },
      ) ?? undefined,
    serviceName: text('OTEL_SERVICE_NAME', 'accounts'),
    tracesSampleRatio: read('OTEL_TRACES_SAMPLER_ARG', '1', 'a number from 0 to 1', (value) =>
      /^(?:0|1|[01]?\.\d{1,9})$/.test(value) && Number(value) <= 1 ? Number(value) : undefined,
    ),
    database: database(),
    databasePoolSize: integer('DATABASE_POOL_SIZE', 20, 2, 1000),
    redisUrl:
      read<string | null>('REDIS_URL', '', 'redis://host:port or rediss://host:port', (value) => {
        if (value === '') return null;
        return /^rediss?:\/\/\S+$/.test(value) && URL.canParse(value) ? value : undefined;
      }) ?? undefined,
    redisCa: certificates('REDIS_SSL_CA', 'rediss://', variables.get('REDIS_URL').startsWith('rediss:')),
    smtp: smtp(),
    mailFrom: mailFrom(),
    mailTemplates: variables.get('MAIL_TEMPLATES') || undefined,
    jwtKeysFile: text('JWT_KEYS_FILE', './data/jwks.json'),
    jwtIssuer: text('JWT_ISSUER', 'accounts'),
    jwtAudience: text('JWT_AUDIENCE', 'accounts'),
    tokenTtl: duration('TOKEN_TTL', '24h', 365 * 86_400, '365d'),
    accessTokenTtl: duration('ACCESS_TOKEN_TTL', '15m', 86_400, '24h'),
    codeTtl: duration('CODE_TTL', '60s', 600, '10m'),
    sessionMaxAge: duration('SESSION_MAX_AGE', '30d', 3650 * 86_400, '3650d'),
    sessionIdle: duration('SESSION_IDLE', '14d', 3650 * 86_400, '3650d'),
    refreshGrace: read('REFRESH_GRACE', '30s', 'a duration such as 0s or 30s, at most 10m', (value) => {
      const seconds = /^0[smhd]?$/.test(value) ? 0 : parseDuration(value);
      return seconds !== undefined && seconds <= MAX_REFRESH_GRACE_SECONDS ? seconds : undefined;
    }),
    rateLimitRegister: limit('RATE_LIMIT_REGISTER', '5/1h'),
    rateLimitLogin: limit('RATE_LIMIT_LOGIN', '10/15m'),
    rateLimitAddress: limit('RATE_LIMIT_ADDRESS', 'off'),
    rateLimitAccount: limit('RATE_LIMIT_ACCOUNT', 'off'),
    rateLimitLookup: limit('RATE_LIMIT_LOOKUP', '100/1h'),
    rateLimitForgot: limit('RATE_LIMIT_FORGOT', '3/15m'),
    rateLimitCode: limit('RATE_LIMIT_CODE', '10/15m'),
    rateLimitWrites: limit('RATE_LIMIT_WRITES', 'off'),
    argon2: {
      memoryKib: integer('ARGON2_MEMORY_KIB', 19_456, 1024, 4_194_304),
      timeCost: integer('ARGON2_TIME', 2, 1, 100),
      parallelism: integer('ARGON2_PARALLELISM', 1, 1, 64),
    },
    trustProxy: list('TRUST_PROXY', TRUSTED_RANGES, parseIpRange),
    corsOrigins: list('CORS_ORIGINS', 'exact origins such as https://app.example.com', parseExactOrigin),
    passwordMinLength: integer('PASSWORD_MIN_LENGTH', 8, 8, 128),
    eventsRetention: duration('EVENTS_RETENTION', '400d', 36_500 * 86_400, '36500d'),
    orgRestoreWindow: duration('ORG_RESTORE_WINDOW', '30d', 3650 * 86_400, '3650d'),
    maxOrgsPerUser: integer('MAX_ORGS_PER_USER', 5000, 1, 100_000),
    addMembers: oneOf('ADD_MEMBERS', 'registered', ['registered', 'verified']),
    migrations: oneOf('MIGRATIONS', 'run', ['run', 'check']),
    docs: oneOf('DOCS', production ? 'off' : 'on', ['on', 'off']) === 'on',
    logLevel: oneOf('LOG_LEVEL', 'info', LOG_LEVELS),
    webConcurrency: read('WEB_CONCURRENCY', '1', 'auto or a whole number from 1 to 128', (value) => {
      if (value === 'auto') return 'auto' as const;
      return /^[1-9]\d{0,2}$/.test(value) && Number(value) <= 128 ? Number(value) : undefined;
    }),
  });
  variables.refuseMisspelled();
  if (problems.length > 0) throw new ConfigurationError(problems);
  return env;
}
