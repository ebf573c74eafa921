import { type CommandGroup, LIST_LIMIT } from '../command/definition.js';
import { USER } from './users.commands.js';

export const OPERATORS: CommandGroup = {
  name: 'operators',
  summary: 'users who may call the routes of operators, for example in Swagger UI',
  commands: [
    {
      usage: 'create <EMAIL>',
      summary: 'make an operator, with a password and a second factor that are shown once',
      details: [
        'The command creates the user, whatever REGISTRATION says, or takes the one with this email. It shows the secret of',
        'the second factor, asks for a code of the authenticator app, and prints the recovery codes. It writes nothing before',
        'the code is right. An existing user keeps the password, and their sessions end; one who uses two-factor',
        'authentication only becomes an operator.',
      ].join('\n'),
      options: [
        ['--name <NAME>', 'the name of the user, if the command creates them'],
        ['--no-confirm', 'ask for no code, in a script'],
      ],
      changes: true,
      examples: ['operators create ada@example.com --name "Ada Lovelace" --reason "the first operator"'],
      run: async (invocation) => (await import('./create-operator.js')).createOperator(invocation),
    },
    {
      usage: 'grant <USER>',
      summary: 'make a user an operator, immediately',
      details: [
        `${USER} The command rejects a user without two-factor authentication: an attacker with their`,
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
