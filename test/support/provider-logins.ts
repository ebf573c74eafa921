import { createHash, randomBytes } from 'node:crypto';
import {
  type AuthorizationResponse,
  type ProviderAccess,
  ProviderClient,
  type ProviderOutcome,
} from '../../src/auth/providers/provider-client.js';
import { DEFAULT_SETTINGS, type ProviderSettings } from '../../src/auth/providers/provider-settings.js';
import { parseEnv } from '../../src/config/env.js';

const REDIRECT_URI = 'https://accounts.example.com/api/auth/providers/acme/callback';

export function aProviderClient(env: Record<string, string> = {}): ProviderClient {
  return new ProviderClient(
    parseEnv({ NODE_ENV: 'test', JWT_ISSUER: 'https://accounts.example.com', ...env }),
  );
}

export function accessTo(
  { issuer, clientId, secret }: Pick<ProviderAccess, 'issuer' | 'clientId' | 'secret'>,
  settings: Partial<ProviderSettings> = {},
): ProviderAccess {
  return { id: 'id', name: 'acme', issuer, clientId, secret, settings: { ...DEFAULT_SETTINGS, ...settings } };
}

/** A login as Accounts asks for it, without the routes. @param authorize what the browser brings back */
export async function logInAt(
  client: Pick<ProviderClient, 'authorizationUrl' | 'complete'>,
  access: ProviderAccess,
  authorize: (authorizationUrl: string) => URL | Promise<URL>,
  change: Partial<AuthorizationResponse> = {},
): Promise<ProviderOutcome> {
  const [state, nonce, codeVerifier] = [random(), random(), random()];
  const codeChallenge = createHash('sha256').update(codeVerifier).digest('base64url');
  const { maxAge } = change;
  const url = await client.authorizationUrl(access, {
    redirectUri: REDIRECT_URI,
    state,
    nonce,
    codeChallenge,
    maxAge,
  });
  const { searchParams: parameters } = await authorize(url);
  const response = {
    parameters,
    redirectUri: REDIRECT_URI,
    state,
    nonce,
    codeVerifier,
    secondsSinceStart: 0,
  };
  return client.complete(access, { ...response, ...change });
}

function random(): string {
  return randomBytes(32).toString('base64url');
}
