import type { CommandGroup } from '../command.js';

export const ORGS: CommandGroup = {
  name: 'orgs',
  summary: 'organizations and their owners',
  commands: [
    {
      usage: 'show <ORG>',
      summary: 'one organization, how many members it has, and its first 1000',
      examples: ['orgs show 019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f'],
      load: async () => (await import('./show.command.js')).showOrg,
    },
    {
      usage: 'set-owner <ORG> <USER>',
      summary: 'make a user an owner; the existing owners remain',
      details: 'A user is named by e-mail or id.',
      options: [['--force', 'also a user who is no member: he joins as an owner']],
      changes: true,
      examples: [
        'orgs set-owner 019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f ada@example.com --reason "its owner left the company"',
      ],
      load: async () => (await import('./set-owner.command.js')).setOwner,
    },
  ],
};
