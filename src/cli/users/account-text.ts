import type { Account } from '../../users/account.repository.js';
import { timeOrNull, timeText } from '../times.js';

export function accountJson(account: Account): object {
  const { id, email, createdAt, disabledAt, emailVerifiedAt, passwordChangedAt } = account;
  return {
    id,
    email,
    createdAt: timeText(createdAt),
    disabledAt: timeOrNull(disabledAt),
    emailVerifiedAt: timeOrNull(emailVerifiedAt),
    passwordChangedAt: timeOrNull(passwordChangedAt),
  };
}

export function accountLine({ id, email, disabledAt }: Account): string {
  return `${id}  ${email}${disabledAt === null ? '' : '  DISABLED'}`;
}
