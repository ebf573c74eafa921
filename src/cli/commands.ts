import type { CommandDefinition, CommandGroup } from './command/definition.js';
import type { Commands } from './command/program.js';
import { EVENTS } from './events.definitions.js';
import { KEYS } from './keys/keys.definitions.js';
import { MAIL } from './mail.definitions.js';
import { OPERATORS } from './users/operators.definitions.js';
import { ORGS } from './orgs.definitions.js';
import { SERVICES } from './services.definitions.js';
import { USERS } from './users/users.definitions.js';

const SESSIONS: CommandGroup = {
  name: 'sessions',
  summary: 'the logins of all users',
  commands: [
    {
      usage: 'end-all',
      summary: 'log everybody out everywhere, at the next request',
      details:
        'Use it when a signing key was stolen; after a restore use accounts after-restore. Users keep their passwords.',
      changes: true,
      examples: ['sessions end-all --reason "a signing key was stolen"'],
      load: async () => (await import('./users/sessions.commands.js')).endAllSessions,
    },
  ],
};

const EXPORT: CommandDefinition = {
  usage: 'export <USER>',
  summary: 'print all data about one user as a JSON document, to answer an access request',
  details: [
    'A user is named by e-mail or id. The document holds the account, the organizations, the sessions, the record of',
    'changes about the user, and the invitations to the e-mail if it is verified. It contains no hash, no code, no',
    'client address of anybody else, and none of the reasons that operators gave.',
  ].join('\n'),
  examples: ['export ada@example.com > ada.json'],
  load: async () => (await import('./users/lookup.commands.js')).exportUser,
};

const MIGRATE: CommandDefinition = {
  usage: 'migrate',
  summary: 'bring the database up to date, as the service does at its start',
  details: 'If several run at the same time, one of them does it. MIGRATIONS=check does not apply here.',
  examples: ['migrate'],
  load: async () => (await import('./data/migrate.commands.js')).migrateDatabase,
};

const BACKUP: CommandDefinition = {
  usage: 'backup <FILE>',
  summary: 'copy the SQLite database to a new file, beside a running service, and check the copy',
  details: [
    'FILE must not exist; only its owner can read it. Copy JWT_KEYS_FILE, too: without it nobody can use their second factor.',
    'With MySQL or MariaDB the command prints what to run instead, and ends with 2.',
  ].join('\n'),
  examples: ['backup /var/lib/accounts/backup-2026-11-24.sqlite'],
  load: async () => (await import('./data/backup.command.js')).backUp,
};

const AFTER_RESTORE: CommandDefinition = {
  usage: 'after-restore',
  summary: 'end every session, and begin the feed of changes anew, since a restored database knows neither',
  details: [
    'Run it after every restore of a backup, before the first start. It can be repeated.',
    'What was used up or taken away after the backup is back, and is for you to renew: recovery codes that were used,',
    'second factors that were removed, passwords that were changed, and secrets of services that were revoked.',
  ].join('\n'),
  changes: 'with a reason',
  examples: ['after-restore --reason "restored the backup of yesterday"'],
  load: async () => (await import('./users/sessions.commands.js')).afterRestore,
};

const COPY_FROM: CommandDefinition = {
  usage: 'copy-from <FILE>',
  summary: 'copy a SQLite database into the empty database of DATABASE_URL, to move to MySQL or MariaDB',
  details: [
    'Both databases need the schema of this version (accounts migrate). FILE is only read. Stop its service first, or',
    'changes made after the copy began are missing. Everything is copied in one transaction, or nothing is.',
  ].join('\n'),
  examples: ['copy-from /var/lib/accounts/accounts.sqlite'],
  load: async () => (await import('./data/migrate.commands.js')).copyFrom,
};

const DOCTOR: CommandDefinition = {
  usage: 'doctor',
  summary: 'check the invariants on the data: read-only, beside a running service',
  examples: ['doctor', 'doctor --json'],
  load: async () => (await import('./doctor/doctor.command.js')).doctor,
};

/** The commands in the order of the help. Only definitions are loaded here, so that the help needs neither Nest nor a database. */
export const COMMANDS: Commands = {
  groups: [USERS, ORGS, OPERATORS, SERVICES, SESSIONS, KEYS, MAIL],
  commands: [EVENTS, EXPORT, MIGRATE, BACKUP, AFTER_RESTORE, COPY_FROM, DOCTOR],
};
