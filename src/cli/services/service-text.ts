import { shownText } from '../../services/service-secrets.js';
import type { ServiceSecret } from '../../services/service-secret.entity.js';
import type { Service } from '../../services/service.entity.js';
import { timeText } from '../times.js';

export function serviceLine({ name, allow, disabledAt, removedAt }: Service): string {
  const state = removedAt !== null ? '  REMOVED' : disabledAt !== null ? '  DISABLED' : '';
  return `${name.padEnd(40)}  ${shownText(allow)}${state}`;
}

export function secretLine({ id, createdAt, lastUsedAt, revokedAt }: ServiceSecret): string {
  const used = lastUsedAt === null ? 'never used' : `used in the hour of ${timeText(lastUsedAt)}`;
  return `${'secret'.padEnd(18)} ${id}  since ${timeText(createdAt)}, ${used}${revokedAt === null ? '' : '  REVOKED'}`;
}
