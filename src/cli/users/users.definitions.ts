import { type CommandDefinition, type CommandGroup, LIST_LIMIT } from '../command/definition.js';

const USER = 'A user is named by e-mail or id.';

const LOOKUP_COMMANDS: CommandDefinition[] = [
  {
    usage: 'list',
    summary: 'list all users, ordered by e-mail',
    options: [LIST_LIMIT],
    examples: ['users list', 'users list --json'],
    load: async () => (await import('./lookup.commands.js')).listUsers,
  },
  {
    usage: 'find <TEXT>',
    summary: 'find users by a part of their e-mail',
    options: [LIST_LIMIT],
    examples: ['users find ada', 'users find @example.com --json'],
    load: async () => (await import('./lookup.commands.js')).findUsers,
  },
  {
    usage: 'show <USER>',
    summary: 'show an account, its organizations and the number of its live sessions',
    details: USER,
    examples: ['users show ada@example.com'],
    load: async () => (await import('./lookup.commands.js')).showUser,
  },
];

const CHANGE_COMMANDS: CommandDefinition[] = [
  {
    usage: 'disable <USER>',
    summary: 'lock an account: every session ends at the next request, and nobody can log in',
    details: `${USER} Refused if they are the only enabled owner of an organization.`,
    options: [['--force', 'do it even if an organization is left without an enabled owner']],
    changes: true,
    examples: ['users disable ada@example.com --reason "laptop stolen"'],
    load: async () => (await import('./change.commands.js')).disableUser,
  },
  {
    usage: 'enable <USER>',
    summary: 'unlock an account; its ended sessions stay ended',
    details: USER,
    changes: true,
    examples: ['users enable ada@example.com --reason "laptop found"'],
    load: async () => (await import('./change.commands.js')).enableUser,
  },
  {
    usage: 'delete <USER>',
    summary: 'erase an account with its memberships and sessions; the record keeps ids',
    details: `${USER} Refused if they are an operator, or the only enabled owner of an organization. This cannot be undone.`,
    options: [['--force', 'delete an operator, and leave an organization without an enabled owner']],
    changes: true,
    examples: ['users delete ada@example.com --reason "asked to be forgotten"'],
    load: async () => (await import('./change.commands.js')).deleteUser,
  },
  {
    usage: 'end-sessions <USER>',
    summary: 'log a user out everywhere, at their next request',
    details: USER,
    changes: true,
    examples: ['users end-sessions ada@example.com --reason "asked for it"'],
    load: async () => (await import('./change.commands.js')).endSessions,
  },
  {
    usage: 'set-password <USER>',
    summary: 'set a password, read from standard input; every session ends',
    details: [
      `${USER} They are told by mail if their e-mail is verified. A terminal asks for the password without showing it; a`,
      'pipe sends it as one line.',
    ].join('\n'),
    options: [['--generate', 'generate a password and print it once']],
    changes: true,
    examples: ['users set-password ada@example.com --generate --reason "lost it"'],
    load: async () => (await import('./password.command.js')).setPassword,
  },
  {
    usage: 'remove-second-factor <USER>',
    summary: 'let a user who has lost the second factor log in by password; every session ends',
    details: [
      `${USER} Make sure that it is they who ask: from then on the password alone logs in. They are told by mail if`,
      'their e-mail is verified. An operator is no longer an operator: grant it again once they have a new second factor.',
    ].join('\n'),
    changes: 'with a reason',
    examples: ['users remove-second-factor ada@example.com --reason "phone lost, called back"'],
    load: async () => (await import('./change.commands.js')).removeSecondFactor,
  },
  {
    usage: 'reset-code <USER>',
    summary: 'print a code once, by which a user can set a new password',
    details: `${USER} Tell them the code: it is valid for 15 minutes, until their e-mail changes or all sessions end.`,
    changes: 'with a reason',
    examples: ['users reset-code ada@example.com --reason "gets no mail, called back"'],
    load: async () => (await import('./code.commands.js')).resetCode,
  },
  {
    usage: 'invite-code <EMAIL>',
    summary: 'print a new code once, by which an invited person can join',
    details: [
      'Use it if no mail of a pending invitation arrives, and tell the person the code: it is valid for 7 days, replaces',
      'a mailed one, and does not verify the e-mail.',
    ].join('\n'),
    options: [['--org <ORG>', 'the organization, by id or name, if several have invited the e-mail']],
    changes: 'with a reason',
    examples: ['users invite-code joan@example.com --org "Analytical Engines" --reason "no mail server"'],
    load: async () => (await import('./code.commands.js')).inviteCode,
  },
  {
    usage: 'set-email <USER> <EMAIL>',
    summary: 'change the e-mail of an account; its sessions continue, mailed codes are void',
    details: [
      `${USER} The old address is told by mail if it was verified. The e-mail of another account is refused. If emails can`,
      'be sent, an account with a second factor needs --verified.',
    ].join('\n'),
    options: [['--verified', 'the e-mail is known to be the user’s own (default: not verified)']],
    changes: true,
    examples: ['users set-email ada@example.com ada@lovelace.example --verified --reason "called back"'],
    load: async () => (await import('./change.commands.js')).setEmail,
  },
  {
    usage: 'verify-email <USER>',
    summary: 'mark the e-mail of a user as verified',
    details: USER,
    changes: true,
    examples: ['users verify-email ada@example.com --reason "called back"'],
    load: async () => (await import('./change.commands.js')).verifyEmail,
  },
];

const IMPORT_COMMANDS: CommandDefinition[] = [
  {
    usage: 'import <FILE>',
    summary: 'import accounts from another system, with their passwords',
    details: [
      'FILE (- for standard input) has a JSON object in each line: {"email", "passwordHash", "emailVerified"?, "id"?}.',
      'The hash is argon2id (PHC) or bcrypt, which the first login replaces. Refused rows are shown by line; existing',
      'rows are skipped, so that an import that stopped can be run again.',
    ].join('\n'),
    changes: true,
    examples: ['users import users.jsonl --reason "moved from the old system"'],
    load: async () => (await import('./import.command.js')).importUsers,
  },
];

export const USERS: CommandGroup = {
  name: 'users',
  summary: 'find and lock accounts, and help their users',
  commands: [...LOOKUP_COMMANDS, ...CHANGE_COMMANDS, ...IMPORT_COMMANDS],
};
