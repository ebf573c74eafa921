import { hash, randomBytes } from 'node:crypto';
import type { Env } from '../config/env.js';
import { SERVICE_SCOPES, type ServiceScope } from '../access/principal.js';

export const SERVICE_NAME = /^[a-z][a-z0-9-]{0,39}$/;
export const SERVICE_NEEDED = 'must be the name of a service';

export function isServiceName(text: string): boolean {
  return SERVICE_NAME.test(text);
}

/** An access token for a service with such a name would pass as an unbound access token. */
export function reservedNames({ jwtAudience, jwtIssuer }: Env): Map<string, string> {
  return new Map([
    [jwtAudience, 'JWT_AUDIENCE'],
    [jwtIssuer, 'JWT_ISSUER'],
  ]);
}

const SECRET_BYTES = 32;
const PREFIX = 'acs_';
const SECRET = /^acs_[\w-]{43}$/;

/** The prefix lets scanners of source code find a leaked secret. */
export function newSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64url');
}

export function beginsLikeSecret(text: string): boolean {
  return text.startsWith(PREFIX);
}

export function isSecret(text: string): boolean {
  return SECRET.test(text);
}

/** Secrets have full entropy, so one pass is enough. The time of a lookup by hash reveals nothing about the secret. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'base64url');
}

const NOTHING = 'none';

export function storedScopes(text: string): ServiceScope[] {
  const stored = text.split(',');
  return SERVICE_SCOPES.filter((scope) => stored.includes(scope));
}

/** @param allow the stored scopes of a service */
export function acceptsApiKeys(allow: string): boolean {
  return storedScopes(allow).includes('keys');
}

export function storedText(scopes: readonly ServiceScope[]): string {
  return SERVICE_SCOPES.filter((scope) => scopes.includes(scope)).join(',');
}

export function shownText(stored: string): string {
  return stored === '' ? NOTHING : stored;
}

export function typedScopes(text: string): ServiceScope[] | undefined {
  if (text === NOTHING) return [];
  const typed = text.split(',').map((part) => part.trim());
  const known = SERVICE_SCOPES.filter((scope) => typed.includes(scope));
  return typed.every((part) => known.some((scope) => scope === part)) ? known : undefined;
}
