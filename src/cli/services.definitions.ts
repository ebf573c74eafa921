import { type CommandDefinition, type CommandGroup, LIST_LIMIT } from './command/definition.js';

const SCOPES = 'What it may ask for is none, or introspect, memberships and events, separated by commas.';

const LOOKUP_COMMANDS: CommandDefinition[] = [
  {
    usage: 'list',
    summary: 'all services, removed ones too, by name',
    options: [LIST_LIMIT],
    examples: ['services list', 'services list --json'],
    load: async () => (await import('./services.commands.js')).listServices,
  },
  {
    usage: 'show <NAME>',
    summary: 'one service and its secrets, by id, with the hour of their last use',
    examples: ['services show billing'],
    load: async () => (await import('./services.commands.js')).showService,
  },
];

const CHANGE_COMMANDS: CommandDefinition[] = [
  {
    usage: 'add <NAME>',
    summary: 'add a service and print its secret, once',
    details: `A name is 1 to 40 lower-case letters, digits and hyphens. ${SCOPES}`,
    options: [['--allow <SCOPES>', 'what it may ask for (default: none; codes need nothing)']],
    changes: true,
    examples: ['services add billing --allow introspect,memberships,events --reason "ticket 4711"'],
    load: async () => (await import('./services.commands.js')).addService,
  },
  {
    usage: 'allow <NAME> <SCOPES>',
    summary: 'set what a service may ask for, from its next request on',
    details: SCOPES,
    changes: true,
    examples: ['services allow billing introspect --reason "reads no members any more"'],
    load: async () => (await import('./services.commands.js')).allowService,
  },
  {
    usage: 'rotate <NAME>',
    summary: 'add a second secret and print it, once; the first works until it is revoked',
    changes: true,
    examples: ['services rotate billing --reason "every six months"'],
    load: async () => (await import('./services.commands.js')).rotateSecret,
  },
  {
    usage: 'revoke-secret <NAME> [SECRET]',
    summary: 'refuse a secret, from the next request on',
    details: 'A secret is named by its id. Without one, the older of two live secrets is revoked.',
    options: [['--end-sessions', 'also end every session that a code for the service opened']],
    changes: true,
    examples: [
      'services revoke-secret billing --reason "the new one is in use"',
      'services revoke-secret billing 019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f --end-sessions --reason "leaked"',
    ],
    load: async () => (await import('./services.commands.js')).revokeSecret,
  },
  {
    usage: 'disable <NAME>',
    summary: 'refuse a service, and end the sessions that codes for it opened, at the next request',
    changes: true,
    examples: ['services disable billing --reason "acts strangely"'],
    load: async () => (await import('./services.commands.js')).disableService,
  },
  {
    usage: 'enable <NAME>',
    summary: 'accept a service again; ended sessions stay ended',
    changes: true,
    examples: ['services enable billing --reason "repaired"'],
    load: async () => (await import('./services.commands.js')).enableService,
  },
  {
    usage: 'remove <NAME>',
    summary: 'disable a service for good; no other can have its name',
    changes: true,
    examples: ['services remove billing --reason "switched off"'],
    load: async () => (await import('./services.commands.js')).removeService,
  },
];

export const SERVICES: CommandGroup = {
  name: 'services',
  summary: 'internal services: their secrets and what they may ask for',
  commands: [...LOOKUP_COMMANDS, ...CHANGE_COMMANDS],
};
