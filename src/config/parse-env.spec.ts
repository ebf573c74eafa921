import { describe, expect, it } from 'vitest';
import { ConfigurationError, parseEnv } from './parse-env.js';

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
  it('needs nothing', () => {
    expect(parseEnv({})).toMatchObject({
      production: false,
      host: '127.0.0.1',
      port: 3000,
      database: { engine: 'sqlite', file: './data/accounts.sqlite' },
      databasePoolSize: 10,
      redisUrl: undefined,
      jwtKeysFile: './data/jwks.json',
      jwtIssuer: 'accounts',
      jwtAudience: 'accounts',
      tokenTtl: 86_400,
      codeTtl: 60,
      sessionMaxAge: 2_592_000,
      rateLimitRegister: { limit: 5, windowMs: 3_600_000 },
      rateLimitLogin: { limit: 10, windowMs: 900_000 },
      argon2: { memoryKib: 19_456, timeCost: 2, parallelism: 1 },
      trustProxy: [],
      corsOrigins: [],
      passwordMinLength: 8,
      maxOrgsPerUser: 5000,
      migrations: 'run',
      docs: true,
      logLevel: 'info',
      webConcurrency: 1,
    });
  });

  it('listens to the world in production', () => {
    expect(parseEnv({ NODE_ENV: 'production' })).toMatchObject({ production: true, host: '0.0.0.0' });
  });

  it('takes an empty variable as unset', () => {
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
  ])('refuses %s', (url) => {
    expect(problemsOf({ DATABASE_URL: url })).toEqual([
      'DATABASE_URL: expected sqlite:FILE or mysql://user:password@host:port/database',
    ]);
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
    ['CORS_ORIGINS', '*'],
    ['CORS_ORIGINS', 'null'],
    ['CORS_ORIGINS', 'https://app.example.com/'],
    ['CORS_ORIGINS', 'https://App.example.com'],
    ['PASSWORD_MIN_LENGTH', '7'],
    ['MAX_ORGS_PER_USER', '0'],
    ['MAX_ORGS_PER_USER', '100001'],
    ['TOKEN_TTL', '24'],
    ['TOKEN_TTL', '0s'],
    ['RATE_LIMIT_LOGIN', '10'],
    ['RATE_LIMIT_LOGIN', '0/15m'],
    ['ARGON2_MEMORY_KIB', '12.5'],
    ['MIGRATIONS', 'auto'],
    ['LOG_LEVEL', 'loud'],
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
    });
    expect(env.trustProxy).toEqual(['10.0.0.0/8', '127.0.0.1', 'fd00::/8']);
    expect(env.corsOrigins).toEqual(['tauri://localhost', 'https://app.example.com:8443']);
    expect(env.rateLimitLogin).toBeUndefined();
  });
});
