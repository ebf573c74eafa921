import { timeOrNull, timeText } from '../identifiers/text.js';
import type { User } from './user.entity.js';

export const USER_VIEW = {
  id: true,
  email: true,
  name: true,
  avatarUrl: true,
  locale: true,
  createdAt: true,
  disabledAt: true,
  emailVerifiedAt: true,
  passwordChangedAt: true,
  secondFactorAt: true,
  operatorSince: true,
} as const;

export type UserView = Pick<User, keyof typeof USER_VIEW>;

export function userJson({ id, email, ...user }: UserView) {
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

export interface LoginTraceView {
  lastLoginAt: string | null;
  failedLogins: { count: number; lastAt: string | null; lastIp: string | null };
}

export function loginTraceView(
  trace: {
    lastLoginAt: number | null;
    failures: number;
    failedAt: number | null;
    failedIp: string | null;
  } | null,
): LoginTraceView {
  const { failures: count = 0, failedAt, failedIp: lastIp = null } = trace ?? {};
  return {
    lastLoginAt: timeOrNull(trace?.lastLoginAt),
    failedLogins: { count, lastAt: timeOrNull(failedAt), lastIp },
  };
}
