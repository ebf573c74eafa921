import type { UserProfile } from '../../users/users.repository.js';
import { timeOrNull, timeText } from '../times.js';

export function userJson(user: UserProfile): object {
  const { id, email, createdAt, disabledAt, emailVerifiedAt, passwordChangedAt, secondFactorAt } = user;
  return {
    id,
    email,
    createdAt: timeText(createdAt),
    disabledAt: timeOrNull(disabledAt),
    emailVerifiedAt: timeOrNull(emailVerifiedAt),
    passwordChangedAt: timeOrNull(passwordChangedAt),
    secondFactorAt: timeOrNull(secondFactorAt),
  };
}

export function userLine({ id, email, disabledAt }: UserProfile): string {
  return `${id}  ${email}${disabledAt === null ? '' : '  DISABLED'}`;
}
