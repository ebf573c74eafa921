import { type CommandGroup, LIST_LIMIT } from './command/definition.js';

const ORG = 'An organization is named by its id, or by its full name if no other has it.';

export const ORGS: CommandGroup = {
  name: 'orgs',
  summary: 'organizations and their owners',
  commands: [
    {
      usage: 'list',
      summary: 'list all organizations in order of creation, including deleted ones',
      options: [LIST_LIMIT],
      examples: ['orgs list', 'orgs list --json'],
      load: async () => (await import('./orgs.commands.js')).listOrgs,
    },
    {
      usage: 'find <TEXT>',
      summary: 'find organizations by a part of their name, ignoring case',
      options: [LIST_LIMIT],
      examples: ['orgs find analytical', 'orgs find "Analytical Engines" --json'],
      load: async () => (await import('./orgs.commands.js')).findOrgs,
    },
    {
      usage: 'show <ORG>',
      summary: 'show an organization and its members, owners first',
      details: ORG,
      options: [
        ['--role <ROLE>', 'only members with this role: owner, admin or member'],
        ['--limit <NUMBER>', 'at most this many members, 1 to 10000 (default: 100)'],
      ],
      examples: [
        'orgs show "Analytical Engines" --role owner',
        'orgs show 019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f --limit 1000 --json',
      ],
      load: async () => (await import('./orgs.commands.js')).showOrg,
    },
    {
      usage: 'set-owner <ORG> <USER>',
      summary: 'make a user an owner; the existing owners remain',
      details: `${ORG} A user is named by e-mail or id.`,
      options: [['--force', 'accept a user who is not a member: they join as an owner']],
      changes: true,
      examples: [
        'orgs set-owner 019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f ada@example.com --reason "its owner left the company"',
      ],
      load: async () => (await import('./orgs.commands.js')).setOwner,
    },
  ],
};
