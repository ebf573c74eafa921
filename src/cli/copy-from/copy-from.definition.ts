import type { CommandDefinition } from '../command.js';

export const COPY_FROM: CommandDefinition = {
  usage: 'copy-from <FILE>',
  summary: 'copy all of a SQLite database into the empty one of DATABASE_URL, to move to MySQL or MariaDB',
  details: [
    'Both need the schema of this version: accounts migrate. FILE is only read; it should be of a service that has',
    'stopped, or everything that changes after the copy began is missing. All is copied in one transaction, or nothing.',
  ].join('\n'),
  examples: ['copy-from /var/lib/accounts/accounts.sqlite'],
  load: async () => (await import('./copy-from.command.js')).copyFrom,
};
