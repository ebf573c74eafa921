import { timeOrNull, timeText } from '../identifiers/text.js';
import type { UserProfile } from './users.repository.js';

/** An account as the command line and an export show it. */
export function userJson(user: UserProfile) {
  const { id, email, createdAt, disabledAt, emailVerifiedAt, passwordChangedAt, secondFactorAt } = user;
  return {
    id,
    email,
    createdAt: timeText(createdAt),
    disabledAt: timeOrNull(disabledAt),
    emailVerifiedAt: timeOrNull(emailVerifiedAt),
    passwordChangedAt: timeOrNull(passwordChangedAt),
    secondFactorAt: timeOrNull(secondFactorAt),
    operatorSince: timeOrNull(user.operatorSince),
  };
}
