import type { UserProfile } from '../../users/users.repository.js';

export function userLine({ id, email, disabledAt }: UserProfile): string {
  return `${id}  ${email}${disabledAt === null ? '' : '  DISABLED'}`;
}
