import { type Env, workersFor } from './env.js';
import { issuerUrl } from './readers.js';
import { isReadByOthers } from './variables.js';

/** Accounts logs these when it starts. */
export function startWarnings(env: Env): string[] {
  const { reason } = workersFor(env);
  return [
    ...env.exposedFiles.map((name) => `${name}: other users can read the file; change its mode`),
    ...env.doubtfulNames.map(
      ({ name, meant }) => `${name}: there is no such variable; if you mean ${meant}, correct the name`,
    ),
    isReadByOthers(env.jwtKeysFile) &&
      'JWT_KEYS_FILE: other users can read the private keys; change the mode of the file',
    env.registrationDomains &&
      env.emailVerification === 'optional' &&
      'REGISTRATION_DOMAINS: anyone can register an email of these domains without owning it; set EMAIL_VERIFICATION=required',
    reason !== undefined && `WEB_CONCURRENCY: one process only: ${reason}`,
  ].filter((warning) => typeof warning === 'string');
}

/** What is fine for a trial, but rarely in production. */
export function adviceOn({
  production,
  jwtIssuer,
  trustProxy,
  smtp,
  database,
  redisUrl,
  refreshGrace,
  crossDeviceLogin,
}: Env): string[] {
  return [
    issuerUrl(jwtIssuer) === undefined &&
      'JWT_ISSUER: not a URL, so services cannot discover the keys; a later change ends all access tokens',
    production &&
      jwtIssuer.startsWith('http://') &&
      'JWT_ISSUER: without TLS, an attacker can replace the keys that services fetch; use https://',
    production &&
      trustProxy.length === 0 &&
      'TRUST_PROXY: unset, so all clients behind a proxy share one rate limit; set it to the IP addresses of your proxies',
    crossDeviceLogin === 'same-network' &&
      trustProxy.length === 0 &&
      'CROSS_DEVICE_LOGIN: without TRUST_PROXY, all clients behind a proxy are in the same network; set TRUST_PROXY',
    smtp === undefined &&
      'SMTP_URL: without a mail server, users cannot verify their email or reset their password',
    database.engine === 'mysql' &&
      redisUrl === undefined &&
      'REDIS_URL: each instance counts rate limits by itself; set it if several instances use this database',
    refreshGrace === 0 &&
      'REFRESH_GRACE: with 0s, a client whose refresh gets no answer is logged out; set it to 20s or more',
  ].filter((warning) => typeof warning === 'string');
}
