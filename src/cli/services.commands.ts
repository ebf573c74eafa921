import { SERVICE_SCOPES, type ServiceScope } from '../access/principal.js';
import { secretView, serviceView } from '../operators/views.js';
import { timeText } from '../identifiers/text.js';
import { isServiceName, shownText, typedScopes } from '../services/service-secrets.js';
import type { ServiceSecret } from '../services/service-secrets.repository.js';
import type { Service } from '../services/services.repository.js';
import type { Services } from './command/cli.module.js';
import {
  CannotRunError,
  type Change,
  type CommandDefinition,
  type CommandGroup,
  type Invocation,
  LIST_LIMIT,
  type Outcome,
  outcomeOf,
  type Report,
  reportOn,
} from './command/definition.js';
import { printList, withServices } from './command/services.js';

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
      run: listServices,
    },
    {
      usage: 'show <NAME>',
      summary: 'show a service and its secrets, with their ids and the hour of their last use',
      examples: ['services show billing'],
      run: showService,
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
      run: addService,
    },
    {
      usage: 'allow <NAME> <SCOPES>',
      summary: 'set the scopes of a service, immediately',
      details: SCOPES,
      changes: true,
      examples: ['services allow billing introspect --reason "no longer reads members"'],
      run: allowService,
    },
    {
      usage: 'rotate <NAME>',
      summary: 'add a second secret and print it once; the first works until you revoke it',
      changes: true,
      examples: ['services rotate billing --reason "every six months"'],
      run: onService(rotateSecret),
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
      run: onService(revokeSecret),
    },
    {
      usage: 'disable <NAME>',
      summary: 'disable a service and end its delegated sessions, immediately',
      changes: true,
      examples: ['services disable billing --reason "acts strangely"'],
      run: onService(async ({ serviceChanges }, name, { actor }) =>
        outcomeOf(
          await serviceChanges.disable(name, actor),
          'disabled; every delegated session of the service has ended',
          'is already disabled',
        ),
      ),
    },
    {
      usage: 'enable <NAME>',
      summary: 'enable a service again; ended sessions stay ended',
      changes: true,
      examples: ['services enable billing --reason "repaired"'],
      run: onService(async ({ serviceChanges }, name, { actor }) =>
        outcomeOf(await serviceChanges.enable(name, actor), 'enabled', 'is not disabled'),
      ),
    },
    {
      usage: 'remove <NAME>',
      summary: 'remove a service for good; its name cannot be used again',
      changes: true,
      examples: ['services remove billing --reason "switched off"'],
      run: onService(async ({ serviceChanges }, name, { actor }) =>
        outcomeOf(await serviceChanges.remove(name, actor), 'removed for good', 'is already removed'),
      ),
    },
  ],
};

async function findService({ services }: Services, text: string): Promise<Service> {
  if (!isServiceName(text)) {
    throw new CannotRunError('the name of a service has 1 to 40 lower-case letters, digits and hyphens');
  }
  const found = await services.find(text);
  if (!found) throw new CannotRunError(`there is no service ${text}`);
  return found;
}

function listServices(invocation: Invocation): Promise<Report> {
  return printList<Service>(invocation, {
    findPage: ({ services }, limit, after) => services.findPage(limit, after?.name),
    lineOf: serviceLine,
    jsonOf: serviceView,
    none: 'no services',
  });
}

function serviceLine({ name, allow, disabledAt, removedAt }: Service): string {
  const state = removedAt !== null ? '  REMOVED' : disabledAt !== null ? '  DISABLED' : '';
  return `${name.padEnd(40)}  ${shownText(allow)}${state}`;
}

function showService({ parameters }: Invocation): Promise<Report> {
  return withServices(async (services) => {
    const service = await findService(services, parameters[0]!);
    const secrets = await services.serviceSecrets.findOf(service.name);
    const shown = serviceView(service);
    const fields = Object.entries({ ...shown, allow: shownText(service.allow) });
    return {
      lines: [
        ...fields.map(([name, value]) => `${name.padEnd(18)} ${value ?? '-'}`),
        ...secrets.map(secretLine),
      ],
      json: [{ ...shown, secrets: secrets.map(secretView) }],
    };
  });
}

function secretLine({ id, createdAt, lastUsedAt, revokedAt }: ServiceSecret): string {
  const used = lastUsedAt === null ? 'never used' : `used in the hour of ${timeText(lastUsedAt)}`;
  return `${'secret'.padEnd(18)} ${id}  since ${timeText(createdAt)}, ${used}${revokedAt === null ? '' : '  REVOKED'}`;
}

async function addService(invocation: Invocation): Promise<Report> {
  const allow = requireScopes(invocation.text('allow') ?? 'none');
  return withServices(async ({ serviceChanges }) => {
    const name = invocation.parameters[0]!;
    const { id, secret } = await serviceChanges.add(name, allow, invocation.operator());
    const text = `added with secret ${id}; it will not be shown again`;
    const json = { allow, secretId: id, secret };
    return reportOn(name, { name }, { text, lines: [`secret: ${secret}`], json });
  });
}

async function allowService(invocation: Invocation): Promise<Report> {
  const text = invocation.parameters[1]!;
  const scopes = requireScopes(text);
  return onService(async ({ serviceChanges }, name, { actor }) => {
    const changed = await serviceChanges.allow(name, scopes, actor);
    return outcomeOf(changed, `the scopes are now ${text}`, `the scopes are already ${text}`);
  })(invocation);
}

function requireScopes(text: string): ServiceScope[] {
  const scopes = typedScopes(text);
  if (scopes) return scopes;
  throw new CannotRunError(`expected none, or some of ${SERVICE_SCOPES.join(', ')}, separated by commas`);
}

async function rotateSecret({ serviceChanges }: Services, name: string, { actor }: Change): Promise<Outcome> {
  const { id, secret } = await serviceChanges.rotate(name, actor);
  const text = `added secret ${id}; it will not be shown again`;
  return { text, lines: [`secret: ${secret}`], json: { secretId: id, secret } };
}

async function revokeSecret(
  { serviceChanges }: Services,
  name: string,
  { actor }: Change,
  invocation: Invocation,
): Promise<Outcome> {
  const endSessions = invocation.flag('endSessions');
  const change = { secretId: invocation.parameters[1], endSessions };
  const { secretId, revoked } = await serviceChanges.revokeSecret(name, change, actor);
  const ended = endSessions ? ', and every delegated session of the service has ended' : '';
  return {
    text: `the secret ${secretId} ${revoked ? 'is revoked' : 'was already revoked'}${ended}`,
    json: { secretId, changed: revoked, sessionsEnded: endSessions },
  };
}

function onService(
  work: (services: Services, name: string, change: Change, invocation: Invocation) => Promise<Outcome>,
): CommandDefinition['run'] {
  return (invocation) =>
    withServices(async (services) => {
      const change = invocation.change();
      const { name } = await findService(services, invocation.parameters[0]!);
      return reportOn(name, { name }, await work(services, name, change, invocation));
    });
}
