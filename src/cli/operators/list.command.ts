import { type UserProfile, UsersRepository } from '../../users/users.repository.js';
import type { Invocation, Report } from '../command.js';
import { listLimit, printList } from '../print-list.js';
import { withServices } from '../services.js';
import { timeOrNull } from '../times.js';
import { userLine } from '../users/user-text.js';

export async function listOperators(invocation: Invocation): Promise<Report> {
  listLimit(invocation.options);
  return withServices((services) =>
    printList(invocation, {
      findPage: (after, limit) => services.get(UsersRepository).findOperators(limit, after?.email),
      lineOf: (user) =>
        `${userLine(user)}  since ${timeOrNull(user.operatorSince)}${user.secondFactorAt === null ? '  NO SECOND FACTOR' : ''}`,
      jsonOf: operatorJson,
      none: 'nobody',
    }),
  );
}

function operatorJson({ id, email, operatorSince, disabledAt, secondFactorAt }: UserProfile): object {
  return {
    id,
    email,
    operatorSince: timeOrNull(operatorSince),
    disabledAt: timeOrNull(disabledAt),
    secondFactorAt: timeOrNull(secondFactorAt),
  };
}
