import { type ProviderAccess, ProviderClient, type ProviderTest } from '../auth/providers/provider-client.js';
import { callbackUri, readSettings } from '../auth/providers/provider-settings.js';
import type { Provider } from '../auth/providers/providers.repository.js';
import { Env } from '../config/env.js';
import { RefusedError } from '../problems/problem.js';
import { type Context, secretsOf } from './command/context.js';

interface TestedProvider {
  test: ProviderTest;
  redirectUri: string | null;
  faults: string[];
  lines: string[];
}

const CHECKS = [
  ['discovery', 'discovery'],
  ['keys', 'keys'],
  ['client', 'client and secret'],
] as const;

export async function testAccess(context: Context, access: ProviderAccess): Promise<TestedProvider> {
  const test = await context.get(ProviderClient).test(access);
  const redirectUri = callbackUri(context.get(Env).jwtIssuer, access.name) ?? null;
  const results = CHECKS.map(([check, label]) => ({ label, result: test[check] }));
  const announced = (isAnnounced: boolean, otherwise: string): string =>
    isAnnounced ? 'announced' : `not announced; without it, ${otherwise}`;
  const rows: [label: string, text: string][] = [
    ...results.map(({ label, result }): [string, string] => [
      label,
      result.ok ? 'ok' : `FAILED: ${result.reason}`,
    ]),
    ['redirect URI', redirectUri ?? 'none: JWT_ISSUER is not a URL'],
    ['email_verified', announced(test.announcesEmailVerified, 'emails need --trust-emails on')],
    ['auth_time', announced(test.announcesAuthTime, 'no login counts as recent')],
  ];
  const faults = results.flatMap(({ label, result }) => (result.ok ? [] : `${label}: ${result.reason}`));
  return { test, redirectUri, faults, lines: rows.map(([label, text]) => `${label.padEnd(18)} ${text}`) };
}

/** Asks the provider outside of any transaction. */
export async function requirePassed(
  context: Context,
  access: ProviderAccess,
  force: boolean,
): Promise<TestedProvider> {
  const tested = await testAccess(context, access);
  if (tested.faults.length === 0 || force) return tested;
  throw new RefusedError(
    `the test of ${access.name} failed, ${tested.faults.join('; ')}: repair it, or use --force (provider_test_failed)`,
  );
}

export function accessOf(context: Context, provider: Provider): ProviderAccess {
  const { id, name } = provider;
  const secret = secretsOf(context, 'provider secrets').decrypt(provider.secret, id)?.toString();
  if (secret !== undefined) return { ...provider, secret, settings: readSettings(provider.settings) };
  throw new RefusedError(
    `no key of JWT_KEYS_FILE decrypts the secret of ${name}: accounts providers set-secret ${name} (secret_unreadable)`,
  );
}
