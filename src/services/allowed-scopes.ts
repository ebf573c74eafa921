import { SERVICE_SCOPES, type ServiceScope } from '../access/service-principal.js';

const NOTHING = 'none';

/** Ignores what a later version may have allowed. */
export function storedScopes(text: string): ServiceScope[] {
  const stored = text.split(',');
  return SERVICE_SCOPES.filter((scope) => stored.includes(scope));
}

export function storedText(scopes: readonly ServiceScope[]): string {
  return SERVICE_SCOPES.filter((scope) => scopes.includes(scope)).join(',');
}

export function shownText(stored: string): string {
  return stored === '' ? NOTHING : stored;
}

/** Returns undefined if a part is no scope. */
export function typedScopes(text: string): ServiceScope[] | undefined {
  if (text === NOTHING) return [];
  const typed = text.split(',').map((part) => part.trim());
  const known = SERVICE_SCOPES.filter((scope) => typed.includes(scope));
  return typed.every((part) => known.some((scope) => scope === part)) ? known : undefined;
}
