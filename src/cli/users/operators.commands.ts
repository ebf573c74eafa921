import { OperatorGrants } from '../../accounts/operator-grants.js';
import { userJson } from '../../users/user-json.js';
import { type UserProfile, UsersRepository } from '../../users/users.repository.js';
import type { Invocation, Report } from '../command/definition.js';
import { printList } from '../command/list.js';
import { changeUser } from './change.commands.js';
import { userLine } from './lookup.commands.js';

export function grantOperator(invocation: Invocation): Promise<Report> {
  const force = invocation.options['force'] === true;
  return changeUser(invocation, {
    make: (services, { id }, actor) => services.get(OperatorGrants).grant(id, { actor, force }),
    done: 'an operator now',
    unchanged: 'is an operator already',
  });
}

export function revokeOperator(invocation: Invocation): Promise<Report> {
  return changeUser(invocation, {
    make: (services, { id }, actor) => services.get(OperatorGrants).revoke(id, actor),
    done: 'no operator any more, from the next request on',
    unchanged: 'is no operator',
  });
}

export function listOperators(invocation: Invocation): Promise<Report> {
  return printList<UserProfile>(invocation, (services) => ({
    findPage: (after, limit) => services.get(UsersRepository).findOperators(limit, after?.email),
    lineOf: operatorLine,
    jsonOf: operatorJson,
    none: 'nobody',
  }));
}

function operatorLine(user: UserProfile): string {
  const { operatorSince, secondFactorAt } = userJson(user);
  return `${userLine(user)}  since ${operatorSince}${secondFactorAt === null ? '  NO SECOND FACTOR' : ''}`;
}

function operatorJson(user: UserProfile): object {
  const { id, email, operatorSince, disabledAt, secondFactorAt } = userJson(user);
  return { id, email, operatorSince, disabledAt, secondFactorAt };
}
