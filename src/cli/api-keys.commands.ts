import { type CommandDefinition, type CommandGroup, LIST_LIMIT } from './command/definition.js';

const OWNERS: NonNullable<CommandDefinition['options']> = [
  ['--user <USER>', 'only API keys that this user made, by an email address or an id'],
  ['--org <ORG>', 'only API keys of this organization, by an id or a full name that only one has'],
  ['--service <NAME>', 'only API keys for this service'],
];

export const API_KEYS: CommandGroup = {
  name: 'api-keys',
  summary: 'API keys of users and organizations, with which programs act as a user at one service',
  commands: [
    {
      usage: 'list',
      summary: 'list API keys, newest first, with their state and the hour of their last use',
      options: [...OWNERS, LIST_LIMIT],
      examples: ['api-keys list --service billing', 'api-keys list --user ada@example.com --json'],
      run: async (invocation) => (await import('./api-keys.js')).listApiKeys(invocation),
    },
    {
      usage: 'revoke <ID>',
      summary: 'revoke an API key for good, immediately',
      changes: true,
      examples: [
        'api-keys revoke 019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f --reason "ticket 4711: in a public repository"',
      ],
      run: async (invocation) => (await import('./api-keys.js')).revokeApiKey(invocation),
    },
    {
      usage: 'revoke-all',
      summary: 'revoke all API keys of a user, of an organization or for a service, for good',
      details: 'Give one of --user, --org and --service. You can run an interrupted command again.',
      options: OWNERS,
      changes: true,
      examples: ['api-keys revoke-all --service billing --reason "billing was broken into"'],
      run: async (invocation) => (await import('./api-keys.js')).revokeAllApiKeys(invocation),
    },
  ],
};
