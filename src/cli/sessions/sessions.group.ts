import type { CommandGroup } from '../command.js';

export const SESSIONS: CommandGroup = {
  name: 'sessions',
  summary: 'the logins of all users',
  commands: [
    {
      usage: 'end-all',
      summary: 'log everybody out everywhere, at the next request',
      details: 'Use it after a restore, or when a signing key was stolen. Users keep their passwords.',
      changes: true,
      examples: ['sessions end-all --reason "restored the backup of yesterday"'],
      load: async () => (await import('./end-all.command.js')).endAllSessions,
    },
  ],
};
