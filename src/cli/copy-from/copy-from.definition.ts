import type { CommandDefinition } from '../command.js';

export const COPY_FROM: CommandDefinition = {
  usage: 'copy-from <FILE>',
  summary: 'copy a SQLite database into the empty database of DATABASE_URL, to move to MySQL or MariaDB',
  details: [
    'Both databases need the schema of this version (accounts migrate). FILE is only read. Stop its service first, or',
    'changes made after the copy began are missing. Everything is copied in one transaction, or nothing is.',
  ].join('\n'),
  examples: ['copy-from /var/lib/accounts/accounts.sqlite'],
  load: async () => (await import('./copy-from.command.js')).copyFrom,
};
