import type { CommandDefinition } from '../command.js';

export const MIGRATE: CommandDefinition = {
  usage: 'migrate',
  summary: 'bring the database up to date, as the service does at its start',
  details: 'If several run at the same time, one of them does it. MIGRATIONS=check does not apply here.',
  examples: ['migrate'],
  load: async () => (await import('./migrate.command.js')).migrateDatabase,
};
