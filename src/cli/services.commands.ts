import { SERVICE_SCOPES } from '../access/principal.js';
import { type CommandGroup, LIST_LIMIT } from './command/definition.js';

const CALLED: [flags: string, meaning: string] = ['--to <SERVICE>', 'the service that is called (required)'];

const SCOPES = `SCOPES is none, or a list of ${SERVICE_SCOPES.join(', ')}, separated by commas.`;

export const SERVICES: CommandGroup = {
  name: 'services',
  summary: 'internal services, their secrets and scopes',
  commands: [
    {
      usage: 'list',
      summary: 'list all services by name, including removed ones',
      options: [LIST_LIMIT],
      examples: ['services list', 'services list --json'],
      run: async (invocation) => (await import('./services.js')).listServices(invocation),
    },
    {
      usage: 'show <NAME>',
      summary:
        'show a service, whom it calls and who calls it, and its secrets with the hour of their last use',
      examples: ['services show billing'],
      run: async (invocation) => (await import('./services.js')).showService(invocation),
    },
    {
      usage: 'add <NAME>',
      summary: 'add a service and print its secret once',
      details: `A name has 1 to 40 lower-case letters, digits and hyphens. ${SCOPES}`,
      options: [
        [
          '--allow <SCOPES>',
          'scopes of the service (default: none; exchanging one-time codes needs no scope)',
        ],
      ],
      changes: true,
      examples: ['services add billing --allow introspect,memberships,events --reason "ticket 4711"'],
      run: async (invocation) => (await import('./services.js')).addService(invocation),
    },
    {
      usage: 'allow <NAME> <SCOPES>',
      summary: 'set the scopes of a service, immediately',
      details: SCOPES,
      changes: true,
      examples: ['services allow billing introspect --reason "no longer reads members"'],
      run: async (invocation) => (await import('./services.js')).allowService(invocation),
    },
    {
      usage: 'call <NAME>',
      summary: 'allow a service to call another one, for itself and for users',
      details: 'The call has one direction, and does not include what the called service may call.',
      options: [CALLED],
      changes: true,
      examples: ['services call billing --to ledger --reason "billing writes entries"'],
      run: async (invocation) => (await import('./services.js')).allowCall(invocation),
    },
    {
      usage: 'revoke-call <NAME>',
      summary: 'revoke the calls of a service to another one, immediately',
      details: 'Every access token for these calls ends, for good.',
      options: [CALLED],
      changes: true,
      examples: ['services revoke-call billing --to ledger --reason "writes through orders now"'],
      run: async (invocation) => (await import('./services.js')).revokeCall(invocation),
    },
    {
      usage: 'rotate <NAME>',
      summary: 'add a second secret and print it once; the first works until you revoke it',
      changes: true,
      examples: ['services rotate billing --reason "every six months"'],
      run: async (invocation) => (await import('./services.js')).rotateSecret(invocation),
    },
    {
      usage: 'revoke-secret <NAME> [SECRET]',
      summary: 'revoke a secret, immediately',
      details: 'SECRET is the id of a secret. Without it, the command revokes the older of two live secrets.',
      options: [
        ['--end-sessions', 'also end every delegated session of the service (opened by a one-time code)'],
      ],
      changes: true,
      examples: [
        'services revoke-secret billing --reason "the new one is in use"',
        'services revoke-secret billing 019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f --end-sessions --reason "leaked"',
      ],
      run: async (invocation) => (await import('./services.js')).revokeSecret(invocation),
    },
    {
      usage: 'disable <NAME>',
      summary: 'disable a service and end its delegated sessions, immediately',
      changes: true,
      examples: ['services disable billing --reason "acts strangely"'],
      run: async (invocation) => (await import('./services.js')).disableService(invocation),
    },
    {
      usage: 'enable <NAME>',
      summary: 'enable a service again; ended sessions stay ended',
      changes: true,
      examples: ['services enable billing --reason "repaired"'],
      run: async (invocation) => (await import('./services.js')).enableService(invocation),
    },
    {
      usage: 'remove <NAME>',
      summary: 'remove a service for good; its name cannot be used again',
      changes: true,
      examples: ['services remove billing --reason "switched off"'],
      run: async (invocation) => (await import('./services.js')).removeService(invocation),
    },
  ],
};
