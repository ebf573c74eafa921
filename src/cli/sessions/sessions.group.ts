import type { CommandGroup } from '../command.js';

export const SESSIONS: CommandGroup = {
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
      load: async () => (await import('./end-all.command.js')).endAllSessions,
    },
  ],
};
