import { type CommandGroup, LIST_LIMIT } from '../command/definition.js';

export const OPERATORS: CommandGroup = {
  name: 'operators',
  summary: 'users who may call the routes of operators, such as in Swagger UI',
  commands: [
    {
      usage: 'grant <USER>',
      summary: 'make a user an operator, from the next request on',
      details: [
        'A user is named by e-mail or id. Refused if the account has no second factor: whoever has its password could enrol',
        'one first. From then on nobody changes the account over HTTP but its user, and a code for its password is void.',
      ].join('\n'),
      options: [['--force', 'do it even if the account has no second factor']],
      changes: true,
      examples: ['operators grant ada@example.com --reason "joined the support team"'],
      load: async () => (await import('./operators.commands.js')).grantOperator,
    },
    {
      usage: 'revoke <USER>',
      summary: 'make an operator a user again, from the next request on',
      details: 'A user is named by e-mail or id. Their sessions continue.',
      changes: true,
      examples: ['operators revoke ada@example.com --reason "left the support team"'],
      load: async () => (await import('./operators.commands.js')).revokeOperator,
    },
    {
      usage: 'list',
      summary: 'list all operators, ordered by e-mail',
      options: [LIST_LIMIT],
      examples: ['operators list', 'operators list --json'],
      load: async () => (await import('./operators.commands.js')).listOperators,
    },
  ],
};
