import type { CommandDefinition, CommandGroup } from './command/definition.js';
import type { Commands } from './command/program.js';
import { EVENTS } from './events.commands.js';
import { MAIL } from './mail.commands.js';
import { ORGS } from './orgs.commands.js';
import { SERVICES } from './services.commands.js';
import {
  AFTER_RESTORE,
  EMAIL_COMMANDS,
  LOCK_COMMANDS,
  REMOVE_SECOND_FACTOR,
  SESSIONS,
  USER,
} from './users/change.commands.js';
import { CODE_COMMANDS } from './users/code.commands.js';
import { EXPORT, LOOKUP_COMMANDS } from './users/lookup.commands.js';
import { OPERATORS } from './users/operators.commands.js';

const SET_PASSWORD: CommandDefinition = {
  usage: 'set-password <USER>',
  summary: 'set a password, read from standard input; every session ends',
  details: [
    `${USER} They are told by mail if their e-mail is verified. A terminal asks for the password without showing it; a`,
    'pipe sends it as one line.',
  ].join('\n'),
  options: [['--generate', 'generate a password and print it once']],
  changes: true,
  examples: ['users set-password ada@example.com --generate --reason "lost it"'],
  run: async (invocation) => (await import('./users/set-password.js')).setPassword(invocation),
};

const IMPORT: CommandDefinition = {
  usage: 'import <FILE>',
  summary: 'import accounts from another system, with their passwords',
  details: [
    'FILE (- for standard input) has a JSON object in each line: {"email", "passwordHash", "emailVerified"?, "id"?}.',
    'The hash is argon2id (PHC) or bcrypt, which the first login replaces. Refused rows are shown by line; existing',
    'rows are skipped, so that an import that stopped can be run again.',
  ].join('\n'),
  changes: true,
  examples: ['users import users.jsonl --reason "moved from the old system"'],
  run: async (invocation) => (await import('./users/import-users.js')).importUsers(invocation),
};

const USERS: CommandGroup = {
  name: 'users',
  summary: 'find and lock accounts, and help their users',
  commands: [
    ...LOOKUP_COMMANDS,
    ...LOCK_COMMANDS,
    SET_PASSWORD,
    REMOVE_SECOND_FACTOR,
    ...CODE_COMMANDS,
    ...EMAIL_COMMANDS,
    IMPORT,
  ],
};

const KEYS: CommandGroup = {
  name: 'keys',
  summary: 'the signing keys of JWT_KEYS_FILE, which running instances read again when it changes',
  commands: [
    {
      usage: 'list',
      summary: 'show which key signs, which will sign, and which only verify',
      examples: ['keys list', 'keys list --json'],
      run: async () => (await import('./data/keys.js')).listKeys(),
    },
    {
      usage: 'rotate',
      summary: 'add a key; it is published at once and signs 10 minutes later, when verifiers have it',
      options: [['--now', 'sign with the new key at once, for example after a leak']],
      changes: true,
      examples: ['keys rotate', 'keys rotate --now --reason "the backup was stolen"'],
      run: async (invocation) => (await import('./data/keys.js')).rotateKeys(invocation),
    },
    {
      usage: 'prune',
      summary: 'remove the keys that no live token or refresh token depends on',
      details: [
        'Keeps the key that signs, keys that will sign, and keys that signed within the last SESSION_IDLE.',
        'Seals anew with the key that signs what the others have sealed, such as the secrets of second factors, which takes',
        '10 seconds where there are any.',
      ].join('\n'),
      options: [
        [
          '--now',
          'remove all keys but the one that signs: users whose tokens another key signed have to log in again',
        ],
      ],
      changes: true,
      examples: ['keys prune', 'keys prune --now --reason "the backup was stolen"'],
      run: async (invocation) => (await import('./data/keys.js')).pruneKeys(invocation),
    },
  ],
};

const MIGRATE: CommandDefinition = {
  usage: 'migrate',
  summary: 'bring the database up to date, as the service does at its start',
  details: 'If several run at the same time, one of them does it. MIGRATIONS=check does not apply here.',
  examples: ['migrate'],
  run: async () => (await import('./data/database.js')).migrateDatabase(),
};

const BACKUP: CommandDefinition = {
  usage: 'backup <FILE>',
  summary: 'copy the SQLite database to a new file, beside a running service, and check the copy',
  details: [
    'FILE must not exist; only its owner can read it. Copy JWT_KEYS_FILE, too: without it nobody can use their second factor.',
    'With MySQL or MariaDB the command prints what to run instead, and ends with 2.',
  ].join('\n'),
  examples: ['backup /var/lib/accounts/backup-2026-11-24.sqlite'],
  run: async (invocation) => (await import('./data/database.js')).backUp(invocation),
};

const COPY_FROM: CommandDefinition = {
  usage: 'copy-from <FILE>',
  summary: 'copy a SQLite database into the empty database of DATABASE_URL, to move to MySQL or MariaDB',
  details: [
    'Both databases need the schema of this version (accounts migrate). FILE is only read. Stop its service first, or',
    'changes made after the copy began are missing. Everything is copied in one transaction, or nothing is.',
  ].join('\n'),
  examples: ['copy-from /var/lib/accounts/accounts.sqlite'],
  run: async (invocation) => (await import('./data/database.js')).copyFrom(invocation),
};

const DOCTOR: CommandDefinition = {
  usage: 'doctor',
  summary: 'check the invariants on the data: read-only, beside a running service',
  examples: ['doctor', 'doctor --json'],
  run: async () => (await import('./doctor/doctor.js')).doctor(),
};

// In the order of the help. The imports above load no library; the code of a command loads its own when it runs.
export const COMMANDS: Commands = {
  groups: [USERS, ORGS, OPERATORS, SERVICES, SESSIONS, KEYS, MAIL],
  commands: [EVENTS, EXPORT, MIGRATE, BACKUP, AFTER_RESTORE, COPY_FROM, DOCTOR],
};
