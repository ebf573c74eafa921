import { type UserProfile, userJson } from '../../users/user-profile.js';
import { type CommandGroup, LIST_LIMIT, outcomeOf } from '../command/definition.js';
import { onUser, printList } from '../command/services.js';
import { USER } from './change.commands.js';
import { userLine } from './lookup.commands.js';

export const OPERATORS: CommandGroup = {
  name: 'operators',
  summary: 'users who may call the routes of operators, such as in Swagger UI',
  commands: [
    {
      usage: 'grant <USER>',
      summary: 'make a user an operator, from the next request on',
      details: [
        `${USER} Refused if the account has no second factor: whoever has its password could enrol`,
        'one first. From then on nobody changes the account over HTTP but its user, and a code for its password is void.',
      ].join('\n'),
      options: [['--force', 'do it even if the account has no second factor']],
      changes: true,
      examples: ['operators grant ada@example.com --reason "joined the support team"'],
      run: onUser(async ({ operations }, { id }, change) =>
        outcomeOf(await operations.grantOperator(id, change), 'an operator now', 'is an operator already'),
      ),
    },
    {
      usage: 'revoke <USER>',
      summary: 'make an operator a user again, from the next request on',
      details: `${USER} Their sessions continue.`,
      changes: true,
      examples: ['operators revoke ada@example.com --reason "left the support team"'],
      run: onUser(async ({ operations }, { id }, { actor }) =>
        outcomeOf(
          await operations.revokeOperator(id, actor),
          'no operator any more, from the next request on',
          'is no operator',
        ),
      ),
    },
    {
      usage: 'list',
      summary: 'list all operators, ordered by e-mail',
      options: [LIST_LIMIT],
      examples: ['operators list', 'operators list --json'],
      run: (invocation) =>
        printList<UserProfile>(invocation, {
          findPage: ({ users }, limit, after) => users.findOperators(limit, after?.email),
          lineOf: operatorLine,
          jsonOf: operatorJson,
          none: 'nobody',
        }),
    },
  ],
};

function operatorLine(user: UserProfile): string {
  const { operatorSince, secondFactorAt } = userJson(user);
  return `${userLine(user)}  since ${operatorSince}${secondFactorAt === null ? '  NO SECOND FACTOR' : ''}`;
}

function operatorJson(user: UserProfile): object {
  const { id, email, operatorSince, disabledAt, secondFactorAt } = userJson(user);
  return { id, email, operatorSince, disabledAt, secondFactorAt };
}
