import type { CommandDefinition } from './command/definition.js';

export const EVENTS: CommandDefinition = {
  usage: 'events',
  summary: 'the record of changes: who did what, and when, newest first',
  details: 'A time is a day (in UTC), a time with its zone, or an age such as 30m, 24h or 7d.',
  options: [
    ['--user <USER>', 'only events about this user, by e-mail or id'],
    ['--org <ORG>', 'only events of this organization'],
    ['--type <TYPE>', 'only events of this type, such as member.removed'],
    ['--since <TIME>', 'only events from this time on'],
    ['--until <TIME>', 'only events before this time'],
    ['--limit <NUMBER>', 'at most this many, 1 to 10000 (default: 100)'],
  ],
  examples: [
    'events --user ada@example.com --type member.removed',
    'events --org 019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f --since 7d --json',
    'events --since 2026-11-21T22:00Z --until 2026-11-22T06:00Z',
  ],
  load: async () => (await import('./events.commands.js')).showEvents,
  commands: [
    {
      usage: 'follow',
      summary: 'print events as they come, in the order of the feed, until it is interrupted',
      options: [['--after <CURSOR>', 'begin after this event, by id, or with start (default: from now on)']],
      examples: ['events follow', 'events follow --after start --json'],
      load: async () => (await import('./events.commands.js')).followEvents,
    },
  ],
};
