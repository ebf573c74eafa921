import type { Env } from '../config/env.js';

export const SERVICE_NAME = /^[a-z][a-z0-9-]{0,39}$/;

export function isServiceName(text: string): boolean {
  return SERVICE_NAME.test(text);
}

/** A token for a service of such a name would pass for a full one. */
export function reservedNames({
  jwtAudience,
  jwtIssuer,
}: Pick<Env, 'jwtAudience' | 'jwtIssuer'>): Map<string, string> {
  return new Map([
    [jwtAudience, 'JWT_AUDIENCE'],
    [jwtIssuer, 'JWT_ISSUER'],
  ]);
}
