import type { CommandGroup } from './command/definition.js';

export const MAIL: CommandGroup = {
  name: 'mail',
  summary: 'the outbox: mails that wait and mails that failed',
  commands: [
    {
      usage: 'list',
      summary: 'list mails that wait, failed or were dropped, latest first, without their text and code',
      details: 'Mails are kept for 7 days.',
      options: [
        ['--state <STATE>', 'waiting, failed, sent, or dropped (its code was void when its turn came)'],
        ['--to <EMAIL>', 'only mails to this address'],
        ['--limit <NUMBER>', 'at most this many (default: 100)'],
      ],
      examples: ['mail list', 'mail list --to ada@example.com --state sent --json'],
      load: async () => (await import('./mail.commands.js')).listMails,
    },
    {
      usage: 'retry [MAIL]',
      summary: 'send a waiting or failed mail now, named by its id',
      details:
        'A mail that is of no use any more is refused: its code has expired or is void, or its invitation has ended.',
      options: [['--failed', 'send all failed mails instead of one']],
      changes: true,
      examples: ['mail retry 019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f', 'mail retry --failed'],
      load: async () => (await import('./mail.commands.js')).retryMails,
    },
  ],
};
