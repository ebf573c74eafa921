import { type ProviderAccess, ProviderClient, type ProviderTest } from '../auth/providers/provider-client.js';
import { readSettings } from '../auth/providers/provider-settings.js';
import { type Provider, ProvidersRepository } from '../auth/providers/providers.repository.js';
import { callbackUri } from '../auth/providers/redirect-uri.js';
import { EncryptedSecrets } from '../auth/tokens/derived-keys.js';
import { loadKeyFile } from '../auth/tokens/key-file.js';
import { KeyRing } from '../auth/tokens/signing-keys.js';
import { Env } from '../config/env.js';
import { RefusedError } from '../problems/problem.js';
import type { Context } from './command/context.js';
import type { Report } from './command/definition.js';

export async function testReport(context: Context, access: ProviderAccess): Promise<Report> {
  const test = await context.get(ProviderClient).test(access);
  const { name } = access;
  const redirectUri = callbackUri(context.get(Env).jwtIssuer, name) ?? null;
  const json = [{ name, redirectUri, ...test }];
  return { lines: linesOf(context, name, test), json, isRed: faultsOf(test).length > 0 };
}

/** Reads the file for each command: `keys prune` may have replaced it. */
export function secretsOf(context: Context): EncryptedSecrets {
  const keys = loadKeyFile(context.get(Env).jwtKeysFile, true);
  return new EncryptedSecrets(new KeyRing(keys), 'provider secrets');
}

export function accessWithout({
  id,
  name,
  issuer,
  clientId,
  settings,
}: Provider): Omit<ProviderAccess, 'secret'> {
  return { id, name, issuer, clientId, settings: readSettings(settings) };
}

export async function accessOf(context: Context, provider: Provider): Promise<ProviderAccess> {
  const encrypted = await context.get(ProvidersRepository).findSecret(provider.id);
  const secret = encrypted && secretsOf(context).decrypt(encrypted, provider.id);
  if (secret) return { ...accessWithout(provider), secret: secret.toString() };
  throw new RefusedError(
    `no key of JWT_KEYS_FILE decrypts the secret of ${provider.name}: accounts providers set-secret ${provider.name} (secret_unreadable)`,
  );
}

const CHECKS = { discovery: 'discovery', keys: 'keys', client: 'client and secret' } as const;

type CheckName = keyof typeof CHECKS;

function faultsOf(test: ProviderTest): string[] {
  return (Object.keys(CHECKS) as CheckName[]).flatMap((name) => {
    const result = test[name];
    return result.ok ? [] : [`${CHECKS[name]}: ${result.reason}`];
  });
}

/** Asks the provider outside of any transaction. */
export async function requirePassed(
  context: Context,
  access: ProviderAccess,
  force: boolean,
): Promise<ProviderTest> {
  const test = await context.get(ProviderClient).test(access);
  const faults = faultsOf(test);
  if (faults.length === 0 || force) return test;
  throw new RefusedError(
    `the test of ${access.name} failed, ${faults.join('; ')}: repair it, or use --force (provider_test_failed)`,
  );
}

export function linesOf(context: Context, name: string, test: ProviderTest): string[] {
  const lineOf = (label: string, text: string): string => `${label.padEnd(18)} ${text}`;
  return [
    ...(Object.keys(CHECKS) as CheckName[]).map((check) => {
      const result = test[check];
      return lineOf(CHECKS[check], result.ok ? 'ok' : `FAILED: ${result.reason}`);
    }),
    lineOf('redirect URI', callbackUri(context.get(Env).jwtIssuer, name) ?? 'none: JWT_ISSUER is no URL'),
    lineOf(
      'email_verified',
      announcement(test.announcesEmailVerified, 'without it, emails need --trust-emails on'),
    ),
    lineOf('auth_time', announcement(test.announcesAuthTime, 'without it, no login counts as recent')),
  ];
}

function announcement(isAnnounced: boolean, otherwise: string): string {
  return isAnnounced ? 'announced' : `not announced; ${otherwise}`;
}
