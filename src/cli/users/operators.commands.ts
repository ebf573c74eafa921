import { type UserView, userJson } from '../../users/user-view.js';
import { type CommandGroup, LIST_LIMIT, outcomeOf } from '../command/definition.js';
import { onUser, printList } from '../command/services.js';
import { USER } from './change.commands.js';
import { userLine } from './lookup.commands.js';

export const OPERATORS: CommandGroup = {
  name: 'operators',
  summary: 'users who may call the routes of operators, for example in Swagger UI',
  commands: [
    {
      usage: 'grant <USER>',
      summary: 'make a user an operator, immediately',
      details: [
        `${USER} The command refuses a user without two-factor authentication: an attacker with their`,
        'password could enroll first. Over HTTP, other operators cannot change an operator; the user and the command line',
        'can. Reset codes for the user become invalid.',
      ].join('\n'),
      options: [['--force', 'grant it even if the user has no two-factor authentication']],
      changes: true,
      examples: ['operators grant ada@example.com --reason "joined the support team"'],
      run: onUser(async ({ operations }, { id }, change) =>
        outcomeOf(await operations.grantOperator(id, change), 'now an operator', 'is already an operator'),
      ),
    },
    {
      usage: 'revoke <USER>',
      summary: 'take the role of operator from a user, immediately',
      details: `${USER} Their sessions continue.`,
      changes: true,
      examples: ['operators revoke ada@example.com --reason "left the support team"'],
      run: onUser(async ({ operations }, { id }, { actor }) =>
        outcomeOf(await operations.revokeOperator(id, actor), 'no longer an operator', 'is not an operator'),
      ),
    },
    {
      usage: 'list',
      summary: 'list all operators, ordered by email',
      options: [LIST_LIMIT],
      examples: ['operators list', 'operators list --json'],
      run: (invocation) =>
        printList<UserView>(invocation, {
          findPage: ({ users }, limit, after) => users.findOperators(limit, after?.email),
          lineOf: operatorLine,
          jsonOf: operatorJson,
          none: 'none',
        }),
    },
  ],
};

function operatorLine(user: UserView): string {
  const { operatorSince, secondFactorAt } = userJson(user);
  return `${userLine(user)}  since ${operatorSince}${secondFactorAt === null ? '  NO 2FA' : ''}`;
}

function operatorJson(user: UserView): object {
  const { id, email, operatorSince, disabledAt, secondFactorAt } = userJson(user);
  return { id, email, operatorSince, disabledAt, secondFactorAt };
}
