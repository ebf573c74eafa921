import type { CommandGroup } from './command/definition.js';

export const MAIL: CommandGroup = {
  name: 'mail',
  summary: 'the outbox: emails that wait and emails that failed',
  commands: [
    {
      usage: 'list',
      summary: 'list emails that wait, failed or were dropped, newest first, without text and code',
      details: 'Accounts keeps emails for 7 days.',
      options: [
        ['--state <STATE>', 'waiting, failed, sent, or dropped (the code in it was no longer valid)'],
        ['--to <EMAIL>', 'only emails to this address'],
        ['--limit <NUMBER>', 'at most this many (default: 100)'],
      ],
      examples: ['mail list', 'mail list --to ada@example.com --state sent --json'],
      run: async (invocation) => (await import('./mail.js')).listMails(invocation),
    },
    {
      usage: 'retry [MAIL]',
      summary: 'send a waiting or failed email now, by its id',
      details:
        'The command rejects an email if its code has expired or is invalid, or if its invitation has ended.',
      options: [['--failed', 'send all failed emails instead of one']],
      changes: true,
      examples: ['mail retry --failed --reason "the mail server is back"'],
      run: async (invocation) => (await import('./mail.js')).retryMails(invocation),
    },
  ],
};
