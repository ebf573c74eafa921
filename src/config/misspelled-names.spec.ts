import { describe, expect, it } from 'vitest';
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

describe('a name that is nearly one of ours', () => {
  it.each([
    ['DATABSE_URL', 'DATABASE_URL'],
    ['DATABASE_ULR', 'DATABASE_URL'],
    ['DATABASE_URI', 'DATABASE_URL'],
    ['DATABASE_URL_FIEL', 'DATABASE_URL_FILE'],
    ['RATE_LIMT_LOGIN', 'RATE_LIMIT_LOGIN'],
    ['RATE_LIMIT_LOGINS', 'RATE_LIMIT_LOGIN'],
    ['RATE_LIMIT_REGISTRATIONS', 'RATE_LIMIT_REGISTER'],
    ['ARGON2_MEMORY', 'ARGON2_MEMORY_KIB'],
    ['ARGON2_MEMORY_KB', 'ARGON2_MEMORY_KIB'],
    ['CORS_ORIGIN', 'CORS_ORIGINS'],
    ['TRUST_PROXYS', 'TRUST_PROXY'],
    ['JWT_KEY_FILE', 'JWT_KEYS_FILE'],
    ['METRIC_PORT', 'METRICS_PORT'],
    ['SESSION_MAXAGE', 'SESSION_MAX_AGE'],
    ['NODE_EVN', 'NODE_ENV'],
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

/** From shells and Node, other programs and platforms, and links of Kubernetes to services named redis, mail and so on. */
const FOREIGN_NAMES = `
  PATH HOME HOSTNAME PWD SHLVL LANG TERM USER LOGNAME TZ POST _
  NODE_PATH NODE_OPTIONS NODE_VERSION npm_config_cache HTTP_PROXY HTTPS_PROXY NO_PROXY
  XDG_SESSION_ID SESSION_ID SESSION_MANAGER INVOCATION_ID CREDENTIALS_DIRECTORY MAIL
  DATABASE_HOST DATABASE_PORT DATABASE_NAME DATABASE_USER DATABASE_PASSWORD DB_PASSWORD
  REDIS_HOST REDIS_PASSWORD SMTP_HOST SMTP_USER SMTP_PASSWORD MAIL_HOST JWT_SECRET
  OTEL_TRACES_SAMPLER OTEL_RESOURCE_ATTRIBUTES OTEL_EXPORTER_OTLP_PROTOCOL OTEL_LOG_LEVEL
  REDIS_PORT REDIS_SERVICE_HOST REDIS_SERVICE_PORT REDIS_PORT_6379_TCP REDIS_PORT_6379_TCP_ADDR
  MAIL_PORT MAIL_SERVICE_PORT ACCOUNTS_PORT ACCOUNTS_SERVICE_HOST DATABASE_SERVICE_PORT
  KUBERNETES_PORT KUBERNETES_SERVICE_HOST
`;

it.each(FOREIGN_NAMES.trim().split(/\s+/))('%s may be somebody else’s', (name) => {
  expect(problemsOf({ [name]: 'tcp://10.0.0.1:6379' })).toEqual([]);
});
