import { timeOrNull, timeText } from '../identifiers/text.js';
import type { UserProfile } from './users.repository.js';

/** An account as the command line and an export show it. */
export interface UserJson {
  id: string;
  email: string;
  createdAt: string;
  disabledAt: string | null;
  emailVerifiedAt: string | null;
  passwordChangedAt: string | null;
  secondFactorAt: string | null;
  operatorSince: string | null;
}

export function userJson(user: UserProfile): UserJson {
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
