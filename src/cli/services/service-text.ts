import { shownText, storedScopes } from '../../services/allowed-scopes.js';
import type { ServiceSecret } from '../../services/service-secret.entity.js';
import type { Service } from '../../services/service.entity.js';
import { timeOrNull, timeText } from '../times.js';

export function serviceJson({ name, allow, createdAt, disabledAt, removedAt }: Service): object {
  return {
    name,
    allow: storedScopes(allow),
    createdAt: timeText(createdAt),
    disabledAt: timeOrNull(disabledAt),
    removedAt: timeOrNull(removedAt),
  };
}

export function serviceLine({ name, allow, disabledAt, removedAt }: Service): string {
  const state = removedAt !== null ? '  REMOVED' : disabledAt !== null ? '  DISABLED' : '';
  return `${name.padEnd(40)}  ${shownText(allow)}${state}`;
}

/** Never the hash. */
export function secretJson({ id, createdAt, lastUsedAt, revokedAt }: ServiceSecret): object {
  return {
    id,
    createdAt: timeText(createdAt),
    lastUsedAt: timeOrNull(lastUsedAt),
    revokedAt: timeOrNull(revokedAt),
  };
}

export function secretLine({ id, createdAt, lastUsedAt, revokedAt }: ServiceSecret): string {
  const used = lastUsedAt === null ? 'never used' : `used in the hour of ${timeText(lastUsedAt)}`;
  return `${'secret'.padEnd(18)} ${id}  since ${timeText(createdAt)}, ${used}${revokedAt === null ? '' : '  REVOKED'}`;
}
