import type { CommandDefinition, CommandGroup } from '../command.js';

const USER = 'A user is named by e-mail or id.';

const LOOKING: CommandDefinition[] = [
  {
    usage: 'find <TEXT>',
    summary: 'users with this text in their e-mail: at most 100',
    examples: ['users find ada', 'users find @example.com --json'],
    load: async () => (await import('./find.command.js')).findUsers,
  },
  {
    usage: 'show <USER>',
    summary: 'one account, its organizations and how many sessions are alive',
    details: USER,
    examples: ['users show ada@example.com'],
    load: async () => (await import('./show.command.js')).showUser,
  },
];

const CHANGING: CommandDefinition[] = [
  {
    usage: 'disable <USER>',
    summary: 'lock an account: every session ends at the next request, and nobody can log in',
    details: `${USER} The only enabled owner of an organization is refused.`,
    options: [['--force', 'also where an organization is left without an enabled owner']],
    changes: true,
    examples: ['users disable ada@example.com --reason "laptop stolen"'],
    load: async () => (await import('./disable.command.js')).disableUser,
  },
  {
    usage: 'enable <USER>',
    summary: 'unlock an account; its ended sessions stay ended',
    details: USER,
    changes: true,
    examples: ['users enable ada@example.com --reason "laptop found"'],
    load: async () => (await import('./enable.command.js')).enableUser,
  },
  {
    usage: 'end-sessions <USER>',
    summary: 'log a user out everywhere, at the next request',
    details: USER,
    changes: true,
    examples: ['users end-sessions ada@example.com --reason "asked for it"'],
    load: async () => (await import('./end-sessions.command.js')).endSessions,
  },
  {
    usage: 'set-password <USER>',
    summary: 'set a password, read from standard input; every session ends',
    details: `${USER} At a terminal the password is asked for and not shown, from a pipe it is one line.`,
    options: [['--generate', 'make a password and print it, once']],
    changes: true,
    examples: ['users set-password ada@example.com --generate --reason "lost it"'],
    load: async () => (await import('./set-password.command.js')).setPassword,
  },
  {
    usage: 'reset-code <USER>',
    summary: 'make a code with which a user sets a new password, and print it, once',
    details: `${USER} Tell it to the user: it works for 15 minutes and takes the place of one that was mailed.`,
    examples: ['users reset-code ada@example.com'],
    load: async () => (await import('./reset-code.command.js')).resetCode,
  },
  {
    usage: 'verify-email <USER>',
    summary: 'note that the e-mail is the user’s own',
    details: USER,
    changes: true,
    examples: ['users verify-email ada@example.com --reason "called back"'],
    load: async () => (await import('./verify-email.command.js')).verifyEmail,
  },
];

export const USERS: CommandGroup = {
  name: 'users',
  summary: 'accounts: look them up, lock them, help their owners',
  commands: [...LOOKING, ...CHANGING],
};
