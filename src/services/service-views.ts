import type { ServiceScope } from '../access/principal.js';
import { storedScopes } from './service-secrets.js';
import type { ServiceSecret } from './service-secret.entity.js';
import type { Service } from './service.entity.js';

export interface ServiceView {
  name: string;
  allow: ServiceScope[];
  createdAt: string;
  disabledAt: string | null;
  removedAt: string | null;
}

export interface SecretView {
  id: string;
  createdAt: string;
  lastUsedAt: string | null;
  revokedAt: string | null;
}

export function serviceView({ name, allow, createdAt, disabledAt, removedAt }: Service): ServiceView {
  return {
    name,
    allow: storedScopes(allow),
    createdAt: new Date(createdAt).toISOString(),
    disabledAt: timeOrNull(disabledAt),
    removedAt: timeOrNull(removedAt),
  };
}

export function secretView({ id, createdAt, lastUsedAt, revokedAt }: ServiceSecret): SecretView {
  return {
    id,
    createdAt: new Date(createdAt).toISOString(),
    lastUsedAt: timeOrNull(lastUsedAt),
    revokedAt: timeOrNull(revokedAt),
  };
}

function timeOrNull(epochMs: number | null): string | null {
  return epochMs === null ? null : new Date(epochMs).toISOString();
}
