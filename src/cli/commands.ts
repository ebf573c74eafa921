import { API_KEYS } from './api-keys.commands.js';
import type { CommandDefinition, CommandGroup } from './command/definition.js';
import type { Commands } from './command/program.js';
import { EVENTS } from './events/events.commands.js';
import { MAIL } from './mail.commands.js';
import { ORGS } from './orgs.commands.js';
import { PROVIDERS } from './providers.commands.js';
import { SERVICES } from './services.commands.js';
import { OPERATORS } from './users/operators.commands.js';
import { EXPORT, SESSIONS, USERS } from './users/users.commands.js';

const KEYS: CommandGroup = {
  name: 'keys',
  summary: 'signing keys of JWT_KEYS_FILE; running instances reload the file when it changes',
  commands: [
    {
      usage: 'list',
      summary: 'show which key signs, which will sign, and which only verify',
      examples: ['keys list', 'keys list --json'],
      run: async () => (await import('./data/keys.js')).listKeys(),
    },
    {
      usage: 'create',
      summary: 'create JWT_KEYS_FILE with one key, before the first start in production',
      details: 'The command does not overwrite a file. Copy the new file to every machine.',
      examples: ['keys create'],
      run: async () => (await import('./data/keys.js')).createKeys(),
    },
    {
      usage: 'rotate',
      summary: 'add a key: it is published immediately and signs 10 minutes later, when verifiers have it',
      options: [['--now', 'sign with the new key immediately, for example after a leak']],
      changes: true,
      examples: ['keys rotate --reason "scheduled"', 'keys rotate --now --reason "the backup was stolen"'],
      run: async (invocation) => (await import('./data/key-changes.js')).rotateKeys(invocation),
    },
    {
      usage: 'prune',
      summary: 'remove the keys that no valid access token or refresh token needs',
      details: [
        'Keeps the key that signs, keys that will sign, and keys that signed within the last SESSION_MAX_AGE.',
        'Re-encrypts TOTP secrets and secrets of providers with the key that signs. If there are any, that takes 10 seconds.',
      ].join(' '),
      options: [
        [
          '--now',
          'remove all keys except the one that signs: users with access tokens from other keys must log in again',
        ],
      ],
      changes: true,
      examples: ['keys prune --reason "scheduled"', 'keys prune --now --reason "the backup was stolen"'],
      run: async (invocation) => (await import('./data/key-changes.js')).pruneKeys(invocation),
    },
  ],
};

const CONFIG: CommandGroup = {
  name: 'config',
  summary: 'the configuration',
  commands: [
    {
      usage: 'check',
      summary: 'print the effective configuration without secrets, and warnings',
      details: [
        'Wrong values end with 2 and the lines that the start would print; warnings end with 0. It hides users and passwords',
        'in URLs. Without --connect, it connects to nothing.',
      ].join(' '),
      options: [
        [
          '--connect',
          'try the database, Redis, the mail server and the keys, for 5 s each; exit with 1 if one fails',
        ],
      ],
      examples: ['config check', 'config check --connect', 'config check --json'],
      run: async (invocation) => (await import('./data/config.js')).checkConfiguration(invocation),
    },
  ],
};

const MIGRATE: CommandDefinition = {
  usage: 'migrate',
  summary: 'update the database schema, as Accounts does when it starts',
  details:
    'If several processes migrate at the same time, one of them does it. MIGRATIONS=check does not apply here.',
  examples: ['migrate'],
  run: async () => (await import('./data/database.js')).migrateDatabase(),
};

const BACKUP: CommandDefinition = {
  usage: 'backup <FILE>',
  summary: 'copy the database to a new file and check the copy; Accounts may be running',
  details: [
    'FILE must not exist; only its owner can read it. It is a SQLite database, or for MySQL and MariaDB a dump that the installed',
    'mariadb-dump or mysqldump writes. Also copy JWT_KEYS_FILE: without it, users with two-factor authentication cannot use TOTP',
    'codes. Without a dump program, or if FILE cannot be created, the command exits with 2; if the copy is not complete, with 1 and',
    'without FILE.',
  ].join(' '),
  examples: [
    'backup /var/lib/accounts/backup-2026-11-24.sqlite',
    'backup /var/lib/accounts/backup-2026-11-24.sql',
  ],
  run: async (invocation) => (await import('./data/backup.js')).backUp(invocation),
};

const AFTER_RESTORE: CommandDefinition = {
  usage: 'after-restore',
  summary: 'end all sessions, reset the event feed and drop waiting emails after you restored a backup',
  details: [
    'Run it after every restore, before you start Accounts. You can run it again. It first decrypts every TOTP secret of',
    'the restored database with JWT_KEYS_FILE, and refuses to continue if it cannot.\n\nThe restore also undoes changes made',
    'after the backup. With --since, the command reads copies of the audit log (accounts events copy) and prints what the',
    'restored database lacks: what was taken from users and services and can be repeated, what people must do again, and',
    'what was given and is lost. It changes nothing without --apply. With --apply, it ends the sessions first, and then',
    'repeats what was taken, in the order of the copies. It prints and leaves what no longer fits.',
  ].join(' '),
  options: [
    [
      '--since <FILE...>',
      'copies of the audit log, the oldest first; print what the restore undid, and change nothing',
    ],
    ['--apply', 'repeat what was taken away since the backup, after all sessions have ended'],
    ['--revoke-api-keys', 'revoke all API keys: those revoked since the backup work again'],
    ['--keep-emails', 'send the emails that waited when the backup was made, although most were sent since'],
    ['--force', 'continue even if a TOTP secret cannot be decrypted'],
  ],
  changes: true,
  examples: [
    'after-restore --reason "restored the backup of yesterday"',
    'after-restore --since events.jsonl --reason "restored the backup of yesterday"',
    'after-restore --since events.jsonl --apply --reason "restored the backup of yesterday"',
  ],
  run: async (invocation) => (await import('./restore/after-restore.js')).afterRestore(invocation),
};

const COPY_FROM: CommandDefinition = {
  usage: 'copy-from <FILE>',
  summary: 'copy a SQLite database into the empty database of DATABASE_URL, to move to MySQL or MariaDB',
  details: [
    'Both databases need the schema of this version (accounts migrate). The command only reads FILE. Stop Accounts first:',
    'the copy does not contain changes made after it began. One transaction copies everything or nothing.',
  ].join(' '),
  examples: ['copy-from /var/lib/accounts/accounts.sqlite'],
  run: async (invocation) => (await import('./data/database.js')).copyFrom(invocation),
};

const DOCTOR: CommandDefinition = {
  usage: 'doctor',
  summary: 'check the data for violated invariants; read-only, and Accounts may be running',
  examples: ['doctor', 'doctor --json'],
  run: async (invocation) => (await import('./doctor/doctor.js')).doctor(invocation),
};

// In the order of the help. The imports above load no library; the code of a command loads its own when it runs.
export const COMMANDS: Commands = {
  groups: [USERS, ORGS, OPERATORS, SERVICES, PROVIDERS, API_KEYS, SESSIONS, KEYS, MAIL, CONFIG],
  commands: [EVENTS, EXPORT, MIGRATE, BACKUP, AFTER_RESTORE, COPY_FROM, DOCTOR],
};
