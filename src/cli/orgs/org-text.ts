import type { Org } from '../../orgs/org.entity.js';
import { timeOrNull, timeText } from '../times.js';

export function orgJson({ id, name, createdAt, deletedAt, purgeAt }: Org): object {
  const deletion = { deletedAt: timeOrNull(deletedAt), purgeAt: timeOrNull(purgeAt) };
  return { id, name, createdAt: timeText(createdAt), ...(deletedAt !== null && deletion) };
}

export function orgLine({ id, name, deletedAt }: Org): string {
  return `${id}  ${name}${deletedAt === null ? '' : '  DELETED'}`;
}
