import { timeOrNull, timeText } from '../identifiers/text.js';
import type { User } from './user.entity.js';

/** The columns that operators see, never the hash of the password. */
export const PROFILE = {
  id: true,
  email: true,
  createdAt: true,
  disabledAt: true,
  emailVerifiedAt: true,
  passwordChangedAt: true,
  secondFactorAt: true,
  operatorSince: true,
} as const;

export type UserProfile = Pick<User, keyof typeof PROFILE>;

/** A user as the command line and an export show one. */
export function userJson({ id, email, ...user }: UserProfile) {
  return {
    id,
    email,
    createdAt: timeText(user.createdAt),
    disabledAt: timeOrNull(user.disabledAt),
    emailVerifiedAt: timeOrNull(user.emailVerifiedAt),
    passwordChangedAt: timeOrNull(user.passwordChangedAt),
    secondFactorAt: timeOrNull(user.secondFactorAt),
    operatorSince: timeOrNull(user.operatorSince),
  };
}
