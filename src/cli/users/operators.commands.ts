import { type CommandGroup, LIST_LIMIT } from '../command/definition.js';
import { USER } from './users.commands.js';

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
      ].join(' '),
      options: [['--force', 'grant it even if the user has no two-factor authentication']],
      changes: true,
      examples: ['operators grant ada@example.com --reason "joined the support team"'],
      run: async (invocation) => (await import('./change-user.js')).grantOperator(invocation),
    },
    {
      usage: 'revoke <USER>',
      summary: 'take the role of operator from a user, immediately',
      details: `${USER} Their sessions continue.`,
      changes: true,
      examples: ['operators revoke ada@example.com --reason "left the support team"'],
      run: async (invocation) => (await import('./change-user.js')).revokeOperator(invocation),
    },
    {
      usage: 'list',
      summary: 'list all operators, ordered by email',
      options: [LIST_LIMIT],
      examples: ['operators list', 'operators list --json'],
      run: async (invocation) => (await import('./lookup.js')).listOperators(invocation),
    },
  ],
};
