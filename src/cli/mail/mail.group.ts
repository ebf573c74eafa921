import type { CommandGroup } from '../command.js';

export const MAIL: CommandGroup = {
  name: 'mail',
  summary: 'what waits in the outbox, and what could not be sent',
  commands: [
    {
      usage: 'list',
      summary: 'mails that wait or failed, the latest first; none shows its text or its code',
      details: 'Mails that were sent, and those that failed, are kept for 7 days.',
      options: [
        ['--state <STATE>', 'waiting, failed, sent, or dropped: its code was void when its turn came'],
        ['--to <EMAIL>', 'to one address'],
        ['--limit <NUMBER>', 'at most so many (default: 100)'],
      ],
      examples: ['mail list', 'mail list --to ada@example.com --state sent --json'],
      load: async () => (await import('./list.command.js')).listMails,
    },
    {
      usage: 'retry [MAIL]',
      summary: 'send a mail at once that waits or failed, named by its id',
      details: 'One whose code has expired is not sent any more: its owner asks for another.',
      options: [['--failed', 'all that failed, instead of one']],
      examples: ['mail retry 019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f', 'mail retry --failed'],
      load: async () => (await import('./retry.command.js')).retryMails,
    },
  ],
};
