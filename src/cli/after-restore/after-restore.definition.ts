import type { CommandDefinition } from '../command.js';

export const AFTER_RESTORE: CommandDefinition = {
  usage: 'after-restore',
  summary: 'end every session, and begin the feed of changes anew, since a restored database knows neither',
  details: [
    'Run it after every restore of a backup, before the first start. It can be repeated.',
    'What was used up or taken away after the backup is back, and is for you to renew: recovery codes that were used,',
    'second factors that were removed, passwords that were changed, and secrets of services that were revoked.',
  ].join('\n'),
  changes: 'with a reason',
  examples: ['after-restore --reason "restored the backup of yesterday"'],
  load: async () => (await import('./after-restore.command.js')).afterRestore,
};
