import { type CommandGroup, LIST_LIMIT } from './command/definition.js';

const ORG = 'ORG is an id, or a full name that only one organization has.';

export const ORGS: CommandGroup = {
  name: 'orgs',
  summary: 'organizations and their members',
  commands: [
    {
      usage: 'list',
      summary: 'list all organizations in order of creation, including deleted ones',
      options: [
        ['--status <STATUS>', 'only active, deleted, or ownerless: active, but without an enabled owner'],
        LIST_LIMIT,
      ],
      examples: ['orgs list', 'orgs list --status ownerless --json'],
      run: async (invocation) => (await import('./orgs.js')).listOrgs(invocation),
    },
    {
      usage: 'find <TEXT>',
      summary: 'find organizations by a part of their name, ignoring case and accents',
      options: [LIST_LIMIT],
      examples: ['orgs find analytical', 'orgs find "Analytical Engines" --json'],
      run: async (invocation) => (await import('./orgs.js')).findOrgs(invocation),
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
      run: async (invocation) => (await import('./orgs.js')).showOrg(invocation),
    },
    {
      usage: 'add-owner <ORG> <USER>',
      summary: 'make a user an owner; the existing owners remain',
      details: `${ORG} USER is an email address or an id.`,
      options: [['--force', 'add a user who is not a member: they join as an owner']],
      changes: true,
      examples: [
        'orgs add-owner 019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f ada@example.com --reason "its owner left the company"',
      ],
      run: async (invocation) => (await import('./orgs.js')).addOwner(invocation),
    },
    {
      usage: 'set-role <ORG> <USER> <ROLE>',
      summary: 'give a member another role: owner, admin or member',
      details: `${ORG} USER is an email address or an id. The only enabled owner stays an owner: add another one first.`,
      changes: true,
      examples: [
        'orgs set-role 019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f ada@example.com member --reason "left the team"',
      ],
      run: async (invocation) => (await import('./orgs.js')).setRole(invocation),
    },
    {
      usage: 'remove-member <ORG> <USER>',
      summary: 'remove a member from an organization',
      details: `${ORG} USER is an email address or an id. The only enabled owner stays: add another one first.`,
      changes: true,
      examples: [
        'orgs remove-member 019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f ada@example.com --reason "left the company"',
      ],
      run: async (invocation) => (await import('./orgs.js')).removeMember(invocation),
    },
    {
      usage: 'import <FILE>',
      summary: 'create organizations with their members, who must be users already',
      details: [
        'FILE (- for standard input) is CSV with the columns org, email, role and, if you have one, id, or has a JSON object',
        'with these fields on each line. A role is owner, admin or member. The command prints each line that it refuses. You',
        'can run an interrupted import again: it adds what is missing. Organizations of one name need the id of the other',
        'system.',
      ].join(' '),
      options: [['--dry-run', 'check the file, and change nothing']],
      changes: true,
      examples: ['orgs import organizations.csv --dry-run --reason "moved from the old system"'],
      run: async (invocation) => (await import('./import/import-orgs.js')).importOrgs(invocation),
    },
    {
      usage: 'delete <ORG>',
      summary: 'delete an organization; an owner or an operator can restore it until it is purged',
      details: `${ORG} Requests for it return 404 immediately, and its pending invitations are revoked.`,
      changes: true,
      examples: ['orgs delete 019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f --reason "ticket 4711: spam"'],
      run: async (invocation) => (await import('./orgs.js')).deleteOrg(invocation),
    },
    {
      usage: 'restore <ORG>',
      summary: 'restore a deleted organization with the members who still exist',
      details: `${ORG} The command rejects an organization without an enabled owner.`,
      options: [['--force', 'restore it even if it has no enabled owner: add one afterwards']],
      changes: true,
      examples: [
        'orgs restore 019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f --reason "ticket 4711: deleted by mistake"',
      ],
      run: async (invocation) => (await import('./orgs.js')).restoreOrg(invocation),
    },
    {
      usage: 'lift-second-factor <ORG>',
      summary: 'end the requirement of two-factor authentication in an organization',
      details: `${ORG} Members who were suspended by it can continue.`,
      changes: true,
      examples: [
        'orgs lift-second-factor 019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f --reason "ticket 4711: all owners are suspended"',
      ],
      run: async (invocation) => (await import('./orgs.js')).liftSecondFactor(invocation),
    },
  ],
};
