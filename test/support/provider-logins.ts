import { randomBytes } from 'node:crypto';
import {
  type LoginChecks,
  type ProviderAccess,
  ProviderClient,
  type ProviderOutcome,
} from '../../src/auth/providers/provider-client.js';
import { DEFAULT_SETTINGS, type ProviderSettings } from '../../src/auth/providers/provider-settings.js';
import { parseEnv } from '../../src/config/env.js';

export function aProviderClient(env: Record<string, string> = {}): ProviderClient {
  return new ProviderClient(
    parseEnv({ NODE_ENV: 'test', JWT_ISSUER: 'https://accounts.example.com', ...env }),
  );
}

export function accessTo(
  { issuer, clientId, secret }: Pick<ProviderAccess, 'issuer' | 'clientId' | 'secret'>,
  settings: Partial<ProviderSettings> = {},
): ProviderAccess {
  return { name: 'acme', issuer, clientId, secret, settings: { ...DEFAULT_SETTINGS, ...settings } };
}

/** A login as Accounts asks for it, without the routes. @param authorize what the browser brings back */
export async function logInAt(
  client: Pick<ProviderClient, 'authorizationUrl' | 'complete'>,
  access: ProviderAccess,
  authorize: (authorizationUrl: string) => URL | Promise<URL>,
  change: Partial<LoginChecks> = {},
): Promise<ProviderOutcome> {
  const login = { nonce: random(), codeVerifier: random(), startedAt: Date.now(), ...change };
  const url = await client.authorizationUrl(access, login, { state: random() });
  return client.complete(access, (await authorize(url)).searchParams, login);
}

function random(): string {
  return randomBytes(32).toString('base64url');
}
