import {
  CannotRunError,
  type CommandDefinition,
  type CommandGroup,
  LIST_LIMIT,
} from '../command/definition.js';

export const USER = 'USER is an email address or an id.';

export const USERS: CommandGroup = {
  name: 'users',
  summary: 'find and disable users, and help them to log in',
  commands: [
    {
      usage: 'list',
      summary: 'list all users, ordered by email',
      options: [LIST_LIMIT],
      examples: ['users list', 'users list --json'],
      run: async (invocation) => (await import('./lookup.js')).listUsers(invocation),
    },
    {
      usage: 'find <TEXT>',
      summary: 'find users by a part of their email or name, ignoring case and accents',
      options: [LIST_LIMIT],
      examples: ['users find ada', 'users find @example.com --json', 'users find "Ada L"'],
      run: async (invocation) => (await import('./lookup.js')).findUsers(invocation),
    },
    {
      usage: 'show <USER>',
      summary: 'show a user, their organizations and active sessions, and failed logins since the last login',
      details: USER,
      examples: ['users show ada@example.com'],
      run: async (invocation) => (await import('./lookup.js')).showUser(invocation),
    },
    {
      usage: 'sessions <USER>',
      summary: 'list the active sessions of a user, latest first',
      details: USER,
      examples: ['users sessions ada@example.com', 'users sessions ada@example.com --json'],
      run: async (invocation) => (await import('./lookup.js')).listSessions(invocation),
    },
    {
      usage: 'create <EMAIL>',
      summary: 'create a user, whatever REGISTRATION says, and send them a code to set a password',
      details: [
        'The code is valid for 7 days, or until their email changes or all their sessions end. The user enters it like a',
        'reset code. Without a mail server, the command prints the code once: give it to the user.',
      ].join(' '),
      options: [
        ['--name <NAME>', 'the name of the user'],
        ['--verified', 'mark the email as verified, because you know that it belongs to the user'],
      ],
      changes: true,
      examples: ['users create ada@example.com --name "Ada Lovelace" --reason "joined the team"'],
      run: async (invocation) => (await import('./create-user.js')).createUser(invocation),
    },
    {
      usage: 'disable [USER]',
      summary: 'disable a user: all their sessions end immediately, and they cannot log in',
      details: [
        `${USER} The command refuses to disable the only enabled owner of an organization. With --file, it disables many`,
        'users, and prints each refused line with its number. A dry run checks each user alone.',
      ].join('\n'),
      options: [
        ['--force', 'disable the user even if an organization has no enabled owner afterwards'],
        [
          '--file <FILE>',
          'disable the users whose emails are in this file (- for standard input), one a line',
        ],
        ['--dry-run', 'check the file, and disable nobody'],
      ],
      changes: true,
      examples: [
        'users disable ada@example.com --reason "laptop stolen"',
        'users disable --file leavers.txt --dry-run --reason "left the company"',
      ],
      requireArguments(invocation) {
        if ((invocation.text('file') === undefined) === (invocation.parameters[0] === undefined))
          throw new CannotRunError('expected the email or the id of a user, or --file');
      },
      run: async (invocation) => (await import('./disable-file.js')).disableUsers(invocation),
    },
    {
      usage: 'enable <USER>',
      summary: 'enable a user again; ended sessions stay ended',
      details: USER,
      changes: true,
      examples: ['users enable ada@example.com --reason "laptop found"'],
      run: async (invocation) => (await import('./change-user.js')).enableUser(invocation),
    },
    {
      usage: 'unblock <USER>',
      summary: 'lift the login limits and the count of wrong TOTP codes of a user',
      details: `${USER} Running instances apply it within 5 seconds. An attacker who continues is limited again.`,
      changes: true,
      examples: ['users unblock ada@example.com --reason "locked out by a stranger, called back"'],
      run: async (invocation) => (await import('./change-user.js')).unblockUser(invocation),
    },
    {
      usage: 'delete <USER>',
      summary: 'delete a user with their memberships and sessions; the audit log keeps ids',
      details: `${USER} The command refuses to delete an operator or the only enabled owner of an organization. You cannot undo it.`,
      options: [
        [
          '--force',
          'delete the user even if they are an operator, or the only enabled owner of an organization',
        ],
      ],
      changes: true,
      examples: ['users delete ada@example.com --reason "asked to be forgotten"'],
      run: async (invocation) => (await import('./change-user.js')).deleteUser(invocation),
    },
    {
      usage: 'end-sessions <USER>',
      summary: 'end all sessions of a user immediately',
      details: USER,
      changes: true,
      examples: ['users end-sessions ada@example.com --reason "asked for it"'],
      run: async (invocation) => (await import('./change-user.js')).endSessions(invocation),
    },
    {
      usage: 'set-password <USER>',
      summary: 'set a password, read from standard input; all sessions end',
      details: [
        `${USER} They receive an email if their address is verified. In a terminal, the command prompts for the password`,
        'without showing it. In a pipe, send the password as one line.',
      ].join(' '),
      options: [
        ['--generate', 'generate a password and print it once'],
        ['--force', 'accept a password that is known from a data breach'],
      ],
      changes: true,
      examples: ['users set-password ada@example.com --generate --reason "lost it"'],
      run: async (invocation) => (await import('./set-password.js')).setPassword(invocation),
    },
    {
      usage: 'remove-second-factor <USER>',
      summary: 'turn off two-factor authentication for a user who lost their device; all sessions end',
      details: [
        `${USER} Verify the person’s identity first: afterwards, their password alone is enough to log in. They`,
        'receive an email if their address is verified. An operator loses that role: grant it again when they have set up',
        'two-factor authentication again.',
      ].join(' '),
      changes: true,
      examples: ['users remove-second-factor ada@example.com --reason "phone lost, called back"'],
      run: async (invocation) => (await import('./change-user.js')).removeSecondFactor(invocation),
    },
    {
      usage: 'reset-code <USER>',
      summary: 'print a reset code once, with which a user can set a new password',
      details: `${USER} Give them the code. It is valid for 15 minutes, or until their email changes or all their sessions end.`,
      changes: true,
      examples: ['users reset-code ada@example.com --reason "receives no email, called back"'],
      run: async (invocation) => (await import('./codes.js')).resetCode(invocation),
    },
    {
      usage: 'invite-code <EMAIL>',
      summary: 'print a new invitation code once, with which the invited person can join',
      details: [
        'Use it if the email of a pending invitation does not arrive, and give the code to the person. It is valid for 7',
        'days, replaces the code in the email, and does not verify the email address.',
      ].join(' '),
      options: [['--org <ORG>', 'the organization, by id or name, if several have invited this email']],
      changes: true,
      examples: ['users invite-code joan@example.com --org "Analytical Engines" --reason "no mail server"'],
      run: async (invocation) => (await import('./codes.js')).inviteCode(invocation),
    },
    {
      usage: 'set-email <USER> <EMAIL>',
      summary: 'change the email of a user; their sessions continue, and codes sent by email become invalid',
      details: [
        `${USER} The old address receives an email if it was verified. The command rejects an email that another user has.`,
        'If Accounts can send emails, a user with two-factor authentication needs --verified.',
      ].join(' '),
      options: [['--verified', 'mark the email as verified, because you know that it belongs to the user']],
      changes: true,
      examples: ['users set-email ada@example.com ada@lovelace.example --verified --reason "called back"'],
      run: async (invocation) => (await import('./change-user.js')).setEmail(invocation),
    },
    {
      usage: 'verify-email <USER>',
      summary: 'mark the email of a user as verified',
      details: USER,
      changes: true,
      examples: ['users verify-email ada@example.com --reason "called back"'],
      run: async (invocation) => (await import('./change-user.js')).verifyEmail(invocation),
    },
    {
      usage: 'import <FILE>',
      summary: 'import users from another system, with their password hashes',
      details: [
        'FILE (- for standard input) has one JSON object per line: {"email", "passwordHash", "emailVerified"?, "disabled"?,',
        '"id"?, "name"?, "avatarUrl"?, "locale"?}, or CSV with these names as its first line, or the export of another system.',
        'A hash is argon2id, bcrypt, PBKDF2 or scrypt; the first login replaces it. The command prints each refused row, and',
        'counts what the other system had and Accounts does not import. It skips existing rows, so you can run an',
        'interrupted import again.',
      ].join(' '),
      options: [
        ['--format <FORMAT>', 'csv, jsonl, auth0, firebase or keycloak (default: jsonl)'],
        ['--hash-config <FILE>', 'the hash_config that the Firebase console shows; required with firebase'],
        ['--dry-run', 'check the file, and import nothing'],
        ['--all-or-nothing', 'check all rows first, and import nothing if one fails'],
      ],
      changes: true,
      examples: [
        'users import users.jsonl --reason "moved from the old system"',
        'users import realm.json --format keycloak --dry-run --reason "moved from Keycloak"',
      ],
      run: async (invocation) => (await import('../import/import-users.js')).importUsers(invocation),
    },
  ],
};

export const SESSIONS: CommandGroup = {
  name: 'sessions',
  summary: 'sessions of all users',
  commands: [
    {
      usage: 'end-all',
      summary: 'end the sessions of all users immediately',
      details:
        'Use it if a signing key was stolen. After a restore, use accounts after-restore instead. Users keep their passwords.',
      changes: true,
      examples: ['sessions end-all --reason "a signing key was stolen"'],
      run: async (invocation) => (await import('./change-user.js')).endAllSessions(invocation),
    },
  ],
};

export const EXPORT: CommandDefinition = {
  usage: 'export <USER>',
  summary: 'print all data about one user as a JSON document, to answer an access request',
  details: [
    'USER is an email address or an id. The document contains the user, their organizations, their sessions, the audit log',
    'about them, and the invitations to their email if it is verified. It contains no hashes, no codes, no IP addresses of',
    'other users, and no reasons that operators gave.',
  ].join(' '),
  examples: ['export ada@example.com > ada.json'],
  run: async (invocation) => (await import('./lookup.js')).exportUser(invocation),
};
