import { SERVICE_SCOPES, type ServiceScope } from '../access/principal.js';
import { timeText } from '../identifiers/text.js';
import { secretView, serviceView } from '../operators/views.js';
import { type Call, ServiceCallsRepository } from '../services/service-calls.repository.js';
import { ServiceChanges } from '../services/service-changes.js';
import { isServiceName, shownText, typedScopes } from '../services/service-secrets.js';
import { type ServiceSecret, ServiceSecretsRepository } from '../services/service-secrets.repository.js';
import { type Service, ServicesRepository } from '../services/services.repository.js';
import { type Context, printList, withContext } from './command/context.js';
import {
  CannotRunError,
  type Change,
  type CommandDefinition,
  type Invocation,
  type Outcome,
  outcomeOf,
  type Report,
  reportOn,
} from './command/definition.js';

export async function findService(context: Context, text: string): Promise<Service> {
  if (!isServiceName(text)) {
    throw new CannotRunError('the name of a service has 1 to 40 lower-case letters, digits and hyphens');
  }
  const found = await context.get(ServicesRepository).find(text);
  if (!found) throw new CannotRunError(`there is no service ${text}`);
  return found;
}

export function listServices(invocation: Invocation): Promise<Report> {
  return printList<Service>(invocation, {
    findPage: (context, limit, after) => context.get(ServicesRepository).findPage(limit, after?.name),
    lineOf: serviceLine,
    jsonOf: serviceView,
    none: 'no services',
  });
}

function serviceLine({ name, allow, disabledAt, removedAt }: Service): string {
  const state = removedAt !== null ? '  REMOVED' : disabledAt !== null ? '  DISABLED' : '';
  return `${name.padEnd(40)}  ${shownText(allow)}${state}`;
}

export function showService({ parameters }: Invocation): Promise<Report> {
  return withContext(async (context) => {
    const service = await findService(context, parameters[0]!);
    const secrets = await context.get(ServiceSecretsRepository).findOf(service.name);
    const { calls, calledBy } = await context.get(ServiceCallsRepository).findNeighbours(service.name);
    const shown = serviceView(service);
    const [toOthers, byOthers] = [calls, calledBy].map((names) => names.join(', ') || null);
    const allow = shownText(service.allow);
    const fields = Object.entries({ ...shown, allow, calls: toOthers, calledBy: byOthers });
    return {
      lines: [
        ...fields.map(([name, value]) => `${name.padEnd(18)} ${value ?? '-'}`),
        ...secrets.map(secretLine),
      ],
      json: [{ ...shown, calls, calledBy, secrets: secrets.map(secretView) }],
    };
  });
}

function secretLine({ id, createdAt, lastUsedAt, revokedAt }: ServiceSecret): string {
  const used = lastUsedAt === null ? 'never used' : `used in the hour of ${timeText(lastUsedAt)}`;
  return `${'secret'.padEnd(18)} ${id}  since ${timeText(createdAt)}, ${used}${revokedAt === null ? '' : '  REVOKED'}`;
}

export async function addService(invocation: Invocation): Promise<Report> {
  const allow = requireScopes(invocation.text('allow') ?? 'none');
  return withContext(async (context) => {
    const name = invocation.parameters[0]!;
    const { id, secret } = await context.get(ServiceChanges).add(name, allow, invocation.operator());
    const text = `added with secret ${id}; it will not be shown again`;
    const json = { allow, secretId: id, secret };
    return reportOn(name, { name }, { text, lines: [`secret: ${secret}`], json });
  });
}

export async function allowService(invocation: Invocation): Promise<Report> {
  const text = invocation.parameters[1]!;
  const scopes = requireScopes(text);
  return onService(async (context, name, { actor }) => {
    const changed = await context.get(ServiceChanges).allow(name, scopes, actor);
    return outcomeOf(changed, `the scopes are now ${text}`, `the scopes are already ${text}`);
  })(invocation);
}

function requireScopes(text: string): ServiceScope[] {
  const scopes = typedScopes(text);
  if (scopes) return scopes;
  throw new CannotRunError(`expected none, or some of ${SERVICE_SCOPES.join(', ')}, separated by commas`);
}

export const allowCall = onCall(async (context, call, { actor }) =>
  outcomeOf(
    await context.get(ServiceChanges).allowCall(call, actor),
    `may now call ${call.callee}`,
    `may already call ${call.callee}`,
  ),
);

export const revokeCall = onCall(async (context, call, { actor }) =>
  outcomeOf(
    await context.get(ServiceChanges).revokeCall(call, actor),
    `may no longer call ${call.callee}; every access token for these calls has ended`,
    `may not call ${call.callee} already`,
  ),
);

function onCall(
  work: (context: Context, call: Call, change: Change) => Promise<Outcome>,
): CommandDefinition['run'] {
  return onService(async (context, caller, change, invocation) => {
    const to = invocation.text('to');
    if (to === undefined) throw new CannotRunError('give the service that is called: --to <SERVICE>');
    const { name: callee } = await findService(context, to);
    const { json, ...outcome } = await work(context, { caller, callee }, change);
    return { ...outcome, json: { to: callee, ...json } };
  });
}

export const rotateSecret = onService(async (context, name, { actor }) => {
  const { id, secret } = await context.get(ServiceChanges).rotate(name, actor);
  const text = `added secret ${id}; it will not be shown again`;
  return { text, lines: [`secret: ${secret}`], json: { secretId: id, secret } };
});

export const revokeSecret = onService(async (context, name, { actor }, invocation) => {
  const endSessions = invocation.flag('endSessions');
  const change = { secretId: invocation.parameters[1], endSessions };
  const { secretId, revoked } = await context.get(ServiceChanges).revokeSecret(name, change, actor);
  const ended = endSessions ? ', and every delegated session of the service has ended' : '';
  return {
    text: `the secret ${secretId} ${revoked ? 'is revoked' : 'was already revoked'}${ended}`,
    json: { secretId, changed: revoked, sessionsEnded: endSessions },
  };
});

export const disableService = onService(async (context, name, { actor }) =>
  outcomeOf(
    await context.get(ServiceChanges).disable(name, actor),
    'disabled; every delegated session of the service has ended',
    'is already disabled',
  ),
);

export const enableService = onService(async (context, name, { actor }) =>
  outcomeOf(await context.get(ServiceChanges).enable(name, actor), 'enabled', 'is not disabled'),
);

export const removeService = onService(async (context, name, { actor }) =>
  outcomeOf(await context.get(ServiceChanges).remove(name, actor), 'removed for good', 'is already removed'),
);

function onService(
  work: (context: Context, name: string, change: Change, invocation: Invocation) => Promise<Outcome>,
): CommandDefinition['run'] {
  return (invocation) =>
    withContext(async (context) => {
      const change = invocation.change();
      const { name } = await findService(context, invocation.parameters[0]!);
      return reportOn(name, { name }, await work(context, name, change, invocation));
    });
}
