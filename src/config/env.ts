import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { database } from './database-url.js';
import { normalizedDomain } from './domain-name.js';
import { parseIpRange } from './ip-address.js';
import {
  certificates,
  duration,
  type Format,
  limit,
  listOf,
  mfaIssuer,
  ON_OR_OFF,
  oneOf,
  optional,
  parseDuration,
  type Reader,
  TEXT,
  url,
  variable,
  wholeNumber,
} from './readers.js';
import { PWNED_PASSWORDS } from './pwned-passwords.js';
import { emailVerification, mailFrom, mailProductName, mailTimeZone, smtp } from './smtp.js';
import { ConfigurationError, Variables } from './variables.js';

const MAX_PORT = 65_535;
const MAX_REFRESH_GRACE_SECONDS = 600;

const TRUSTED_RANGE = {
  expected:
    'IP addresses and CIDR ranges no wider than /8 (IPv6: /7), because a trusted host can claim any client IP address',
  parse: parseIpRange,
};
const ORIGIN: Format<string> = {
  expected: 'exact origins such as https://app.example.com',
  parse: (text) => (/^[a-z][a-z0-9+.-]*:\/\/[a-z0-9.-]+(:\d{1,5})?$/.test(text) ? text : undefined),
};
/** A list of commas alone must not open the registration to every domain. */
const DOMAINS: Format<string[]> = {
  expected: 'a comma-separated list of domains such as example.com',
  parse: (text) => {
    const domains = listOf({ expected: '', parse: normalizedDomain }).parse(text);
    return domains && domains.length > 0 ? domains : undefined;
  },
};
const SAMPLE_RATIO: Format<number> = {
  expected: 'a number from 0 to 1',
  parse: (text) => (/^(?:0|1|[01]?\.\d{1,9})$/.test(text) && Number(text) <= 1 ? Number(text) : undefined),
};
const REFRESH_GRACE: Format<number> = {
  expected: 'a duration such as 0s or 30s, at most 10m',
  parse: (text) => {
    const seconds = /^0[smhd]?$/.test(text) ? 0 : parseDuration(text);
    return seconds !== undefined && seconds <= MAX_REFRESH_GRACE_SECONDS ? seconds : undefined;
  },
};
const PROCESSES: Format<number | 'auto'> = {
  expected: 'auto or a whole number from 1 to 128',
  parse: (text) => {
    if (text === 'auto') return 'auto';
    return /^[1-9]\d{0,2}$/.test(text) && Number(text) <= 128 ? Number(text) : undefined;
  },
};

const mode = variable('NODE_ENV', 'development', oneOf('production', 'development', 'test'));
const isProduction: Reader<boolean> = (variables) => variables.get('NODE_ENV') === 'production';
const inProduction =
  (there: string, elsewhere: string): Reader<string> =>
  (variables) =>
    isProduction(variables) ? there : elsewhere;
const withMailServer =
  (there: string, elsewhere: string): Reader<string> =>
  (variables) =>
    variables.get('SMTP_URL') === '' ? elsewhere : there;
const host = variable('HOST', inProduction('0.0.0.0', '127.0.0.1'), TEXT);
const memoryKib = variable('ARGON2_MEMORY_KIB', '19456', wholeNumber(1024, 4_194_304));
const timeCost = variable('ARGON2_TIME', '2', wholeNumber(1, 100));
const parallelism = variable('ARGON2_PARALLELISM', '1', wholeNumber(1, 64));

/** Errors come in this order. Durations are in seconds unless the name says otherwise. */
const SETTINGS = {
  mode,
  production: isProduction,
  exposedFiles: (variables: Variables): readonly string[] => variables.exposed,
  host,
  port: variable('PORT', '3000', wholeNumber(0, MAX_PORT)),
  metricsPort: optional('METRICS_PORT', wholeNumber(0, MAX_PORT)),
  metricsHost: variable('METRICS_HOST', host, TEXT),
  otlpEndpoint: optional('OTEL_EXPORTER_OTLP_ENDPOINT', url('http', 'https')),
  serviceName: variable('OTEL_SERVICE_NAME', 'accounts', TEXT),
  tracesSampleRatio: variable('OTEL_TRACES_SAMPLER_ARG', '1', SAMPLE_RATIO),
  database,
  databasePoolSize: variable('DATABASE_POOL_SIZE', '20', wholeNumber(2, 1000)),
  redisUrl: optional('REDIS_URL', url('redis', 'rediss')),
  redisCa: certificates('REDIS_SSL_CA', 'rediss://', (variables) =>
    variables.get('REDIS_URL').startsWith('rediss:'),
  ),
  smtp,
  mailFrom,
  mailTemplates: optional('MAIL_TEMPLATES', TEXT),
  mailProductName,
  mailTimeZone,
  jwtKeysFile: variable('JWT_KEYS_FILE', './data/jwks.json', TEXT),
  jwtIssuer: variable('JWT_ISSUER', 'accounts', TEXT),
  mfaIssuer,
  jwtAudience: variable('JWT_AUDIENCE', 'accounts', TEXT),
  tokenTtl: variable('TOKEN_TTL', '24h', duration('365d')),
  accessTokenTtl: variable('ACCESS_TOKEN_TTL', '15m', duration('24h')),
  codeTtl: variable('CODE_TTL', '60s', duration('10m')),
  sessionMaxAge: variable('SESSION_MAX_AGE', '30d', duration('3650d')),
  /** the time from the last refresh of a session to its end */
  sessionIdle: variable('SESSION_IDLE', '14d', duration('3650d')),
  /** how long Accounts accepts the previous refresh token */
  refreshGrace: variable('REFRESH_GRACE', '30s', REFRESH_GRACE),
  /** undefined means that the limit is off */
  rateLimitRegister: limit('RATE_LIMIT_REGISTER', '5/1h'),
  rateLimitLogin: limit('RATE_LIMIT_LOGIN', '10/15m'),
  rateLimitIp: limit('RATE_LIMIT_IP', 'off'),
  rateLimitFailedLogins: limit('RATE_LIMIT_FAILED_LOGINS', 'off'),
  rateLimitLookup: limit('RATE_LIMIT_LOOKUP', '100/1h'),
  rateLimitForgot: limit('RATE_LIMIT_FORGOT', '3/15m'),
  rateLimitCode: limit('RATE_LIMIT_CODE', '10/15m'),
  rateLimitProvider: limit('RATE_LIMIT_PROVIDER', '30/15m'),
  rateLimitExport: limit('RATE_LIMIT_EXPORT', '3/15m'),
  rateLimitWrites: limit('RATE_LIMIT_WRITES', 'off'),
  argon2: (variables: Variables) => ({
    memoryKib: memoryKib(variables),
    timeCost: timeCost(variables),
    parallelism: parallelism(variables),
  }),
  trustProxy: variable('TRUST_PROXY', '', listOf(TRUSTED_RANGE)),
  corsOrigins: variable('CORS_ORIGINS', '', listOf(ORIGIN)),
  registration: variable('REGISTRATION', 'open', oneOf('open', 'invited', 'closed')),
  /** undefined means every domain */
  registrationDomains: optional('REGISTRATION_DOMAINS', DOMAINS),
  emailVerification,
  passwordMinLength: variable('PASSWORD_MIN_LENGTH', '8', wholeNumber(8, 128)),
  pwnedPasswords: optional('PWNED_PASSWORDS', PWNED_PASSWORDS),
  newSignInNotice: variable('NEW_SIGN_IN_NOTICE', withMailServer('on', 'off'), ON_OR_OFF),
  eventsRetention: variable('EVENTS_RETENTION', '400d', duration('36500d')),
  orgRestoreWindow: variable('ORG_RESTORE_WINDOW', '30d', duration('3650d')),
  maxOrgsPerUser: variable('MAX_ORGS_PER_USER', '500', wholeNumber(1, 100_000)),
  codeAudience: variable('CODE_AUDIENCE', 'optional', oneOf('optional', 'required')),
  /** whether a user may copy a code from a browser that another device may have */
  crossDeviceLogin: variable('CROSS_DEVICE_LOGIN', 'off', oneOf('off', 'same-network', 'anywhere')),
  operatorsApi: variable('OPERATORS_API', 'on', ON_OR_OFF),
  operatorsSecondFactor: variable('OPERATORS_SECOND_FACTOR', 'required', oneOf('required', 'optional')),
  operatorsLoginAge: variable('OPERATORS_LOGIN_AGE', '1h', duration('30d')),
  /** the most seconds since the login of a user who makes an API key */
  apiKeyLoginAge: variable('API_KEY_LOGIN_AGE', '15m', duration('30d')),
  apiKeyMaxAge: variable('API_KEY_MAX_AGE', '365d', duration('3650d')),
  addMembers: variable('ADD_MEMBERS', 'registered', oneOf('registered', 'verified')),
  migrations: variable('MIGRATIONS', 'run', oneOf('run', 'check')),
  docs: variable('DOCS', inProduction('off', 'on'), ON_OR_OFF),
  logLevel: variable(
    'LOG_LEVEL',
    'info',
    oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
  ),
  webConcurrency: variable('WEB_CONCURRENCY', '1', PROCESSES),
  // The last one, because it compares with the names of all others.
  doubtfulNames: (variables: Variables) => variables.doubtfulNames(),
};

type Settings = {
  readonly [Name in keyof typeof SETTINGS]: ReturnType<(typeof SETTINGS)[Name]>;
};

export type Argon2Cost = Settings['argon2'];

const Base: new () => object = Object;

/** A class, because Nest injects it by its type. */
export class Env extends (Base as new () => Settings) {
  constructor(settings: Settings) {
    super();
    Object.assign(this, settings);
    Object.freeze(this);
  }
}

export function parseEnv(environment: NodeJS.ProcessEnv): Env {
  return readConfiguration(environment).env;
}

export function readConfiguration(environment: NodeJS.ProcessEnv): { env: Env; variables: Variables } {
  const variables = new Variables(environment);
  const settings = Object.entries(SETTINGS).map(([name, read]) => [name, read(variables)]);
  variables.refuseMisspelled();
  if (variables.problems.length > 0) throw new ConfigurationError(variables.problems);
  return { env: new Env(Object.fromEntries(settings) as Settings), variables };
}

/** The environment wins over the `.env` file, and both over the mode of `npm run start:prod`. */
export function readEnvironment(): NodeJS.ProcessEnv {
  if (existsSync('.env')) process.loadEnvFile('.env');
  if (process.argv.includes('--production')) process.env['NODE_ENV'] ||= 'production';
  return process.env;
}

/** For a program that Accounts runs: no secret of Accounts, and nothing that configures the program. */
export function programEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'] };
}

export function loadEnv(): Env {
  return parseEnv(readEnvironment());
}

export function workersFor(env: Env): { workers: number; reason?: string } {
  const wanted = env.webConcurrency === 'auto' ? availableParallelism() : env.webConcurrency;
  const reason = reasonForOne(env);
  return wanted > 1 && reason !== undefined ? { workers: 1, reason } : { workers: wanted };
}

function reasonForOne(env: Env): string | undefined {
  if (env.database.engine === 'sqlite') return 'SQLite supports a single process';
  if (isLimited(env) && env.redisUrl === undefined)
    return 'without REDIS_URL, every process would count requests alone';
  return undefined;
}

export function isLimited(env: Env): boolean {
  const limits = Object.entries(env).filter(([name]) => name.startsWith('rateLimit'));
  return limits.some(([, value]) => value !== undefined);
}

const PACKAGE = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');

export const { version: VERSION } = JSON.parse(PACKAGE) as { version: string };
