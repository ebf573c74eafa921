import type { CommandDefinition } from '../command/definition.js';

export const EVENTS: CommandDefinition = {
  usage: 'events',
  summary: 'the audit log: who did what, and when, newest first',
  details: [
    'A time is a day (in UTC), a time with a time zone, or an age such as 30m, 24h or 7d. Lines show the present emails of',
    'the user and the actor. --json shows their ids only.',
  ].join('\n'),
  options: [
    ['--user <USER>', 'only events about this user, by email or id'],
    ['--actor <ACTOR>', 'only events by this user or operator, by email, id or the name of --as'],
    ['--org <ORG>', 'only events of this organization'],
    ['--type <TYPE>', 'only events of this type, such as member.removed'],
    ['--since <TIME>', 'only events from this time on'],
    ['--until <TIME>', 'only events before this time'],
    ['--limit <NUMBER>', 'at most this many, 1 to 10000 (default: 100)'],
  ],
  examples: [
    'events --user ada@example.com --type member.removed',
    'events --actor support@example.com --since 30d',
    'events --org 019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f --since 7d --json',
    'events --since 2026-11-21T22:00Z --until 2026-11-22T06:00Z',
  ],
  run: async (invocation) => (await import('./events.js')).showEvents(invocation),
  commands: [
    {
      usage: 'follow',
      summary: 'print new events in the order of the event feed, until you interrupt the command',
      options: [
        [
          '--after <CURSOR>',
          'print the events after this cursor: the id of an event, or start (default: only new events)',
        ],
      ],
      examples: ['events follow', 'events follow --after start --json'],
      run: async (invocation) => (await import('./events.js')).followEvents(invocation),
    },
    {
      usage: 'copy <FILE>',
      summary:
        'append every event to FILE until you stop the command, to repeat lost changes after a restore',
      details: [
        'A line is an event of any type as JSON, without IP addresses, in the order of the event feed. The command continues',
        'after the last whole line of FILE and cuts off a torn one. SIGTERM stops it. Exit code 1: FILE is older than',
        'EVENTS_RETENTION, so events are missing. Exit code 3: the database was restored; keep FILE for accounts after-restore.',
        'Then continue with another FILE, which begins at the oldest event.',
      ].join('\n'),
      examples: ['events copy /mnt/other-machine/events.jsonl'],
      run: async (invocation) => (await import('./copy-events.js')).copyEvents(invocation),
    },
  ],
};
