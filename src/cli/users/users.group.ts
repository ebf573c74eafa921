import type { CommandDefinition, CommandGroup } from '../command.js';

const USER = 'A user is named by e-mail or id.';
const LIMIT: [string, string] = ['--limit <NUMBER>', 'at most so many (default: all)'];

const LOOKING: CommandDefinition[] = [
  {
    usage: 'list',
    summary: 'all users, by e-mail',
    options: [LIMIT],
    examples: ['users list', 'users list --json'],
    load: async () => (await import('./list.command.js')).listUsers,
  },
  {
    usage: 'find <TEXT>',
    summary: 'users with this text in their e-mail, by e-mail',
    options: [LIMIT],
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
    usage: 'delete <USER>',
    summary: 'erase an account with its memberships and sessions; the record keeps ids',
    details: `${USER} The only enabled owner of an organization is refused. There is no way back.`,
    options: [['--force', 'also where an organization is left without an enabled owner']],
    changes: true,
    examples: ['users delete ada@example.com --reason "asked to be forgotten"'],
    load: async () => (await import('./delete.command.js')).deleteUser,
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
    summary: 'print a code, once, with which a user sets a new password',
    details: `${USER} Tell it to the user: it works for 15 minutes and takes the place of one that was mailed.`,
    changes: 'with a reason',
    examples: ['users reset-code ada@example.com --reason "gets no mail, called back"'],
    load: async () => (await import('./reset-code.command.js')).resetCode,
  },
  {
    usage: 'invite-code <EMAIL>',
    summary: 'print a new code, once, with which an invited person joins',
    details: [
      'For a pending invitation to that e-mail, where no mail arrives. Tell it to the person: it works for 7 days, takes',
      'the place of one that was mailed, and does not verify the e-mail.',
    ].join('\n'),
    options: [['--org <ORG>', 'of this organization, by id or name, where several invite the e-mail']],
    changes: 'with a reason',
    examples: ['users invite-code joan@example.com --org "Analytical Engines" --reason "no mail server"'],
    load: async () => (await import('./invite-code.command.js')).inviteCode,
  },
  {
    usage: 'set-email <USER> <EMAIL>',
    summary: 'give an account another e-mail; sessions go on, codes on their way are void',
    details: `${USER} The old address gets a mail about it. An address that another account has is refused.`,
    options: [['--verified', 'the e-mail is known to be the user’s own (default: not verified)']],
    changes: true,
    examples: ['users set-email ada@example.com ada@lovelace.example --verified --reason "called back"'],
    load: async () => (await import('./set-email.command.js')).setEmail,
  },
  {
    usage: 'verify-email <USER>',
    summary: 'mark the e-mail of a user as verified',
    details: USER,
    changes: true,
    examples: ['users verify-email ada@example.com --reason "called back"'],
    load: async () => (await import('./verify-email.command.js')).verifyEmail,
  },
];

const TAKING_OVER: CommandDefinition[] = [
  {
    usage: 'import <FILE>',
    summary: 'import accounts from another system, with their passwords',
    details: [
      'FILE (- for standard input) has a JSON object in each line: {"email", "passwordHash", "emailVerified"?, "id"?}.',
      'The hash is argon2id (PHC) or bcrypt, which the first login replaces. Refused rows are shown by line; rows that',
      'are there already are skipped, so that an import which stopped can be run again.',
    ].join('\n'),
    changes: true,
    examples: ['users import users.jsonl --reason "moved from the old system"'],
    load: async () => (await import('./import/import.command.js')).importUsers,
  },
];

export const USERS: CommandGroup = {
  name: 'users',
  summary: 'look accounts up, lock them, help their users',
  commands: [...LOOKING, ...CHANGING, ...TAKING_OVER],
};
