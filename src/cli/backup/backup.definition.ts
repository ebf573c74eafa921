import type { CommandDefinition } from '../command.js';

export const BACKUP: CommandDefinition = {
  usage: 'backup <FILE>',
  summary: 'copy the SQLite database to a new file, beside a running service, and check the copy',
  details: [
    'FILE must not exist; only its owner can read it. Copy JWT_KEYS_FILE, too: without it nobody can use their second factor.',
    'With MySQL or MariaDB the command prints what to run instead, and ends with 2.',
  ].join('\n'),
  examples: ['backup /var/lib/accounts/backup-2026-11-24.sqlite'],
  load: async () => (await import('./backup.command.js')).backUp,
};
