import { type OperatorActor, SERVICE_SCOPES, type ServiceScope } from '../access/principal.js';
import { shownText, typedScopes } from '../services/service-secrets.js';
import { secretView, serviceView, timeText } from '../operators/views.js';
import { ServiceChanges } from '../services/service-changes.js';
import { isServiceName } from '../services/service-name.js';
import type { ServiceSecret } from '../services/service-secret.entity.js';
import { ServiceSecretsRepository } from '../services/service-secrets.repository.js';
import type { Service } from '../services/service.entity.js';
import { ServicesRepository } from '../services/services.repository.js';
import type { Invocation, Report } from './command/definition.js';
import { printList } from './command/list.js';
import { CannotRunError, operatorOf, textOption } from './command/options.js';
import { type Services, withServices } from './command/services.js';

async function findService(services: Services, text: string): Promise<Service> {
  if (!isServiceName(text)) {
    throw new CannotRunError('the name of a service is 1 to 40 lower-case letters, digits and hyphens');
  }
  const found = await services.get(ServicesRepository).find(text);
  if (!found) throw new CannotRunError(`there is no service ${text}`);
  return found;
}

export function listServices(invocation: Invocation): Promise<Report> {
  return printList<Service>(invocation, (services) => ({
    findPage: (after, limit) => services.get(ServicesRepository).findPage(limit, after?.name),
    lineOf: serviceLine,
    jsonOf: serviceView,
    none: 'no services',
  }));
}

function serviceLine({ name, allow, disabledAt, removedAt }: Service): string {
  const state = removedAt !== null ? '  REMOVED' : disabledAt !== null ? '  DISABLED' : '';
  return `${name.padEnd(40)}  ${shownText(allow)}${state}`;
}

export function showService({ parameters }: Invocation): Promise<Report> {
  return withServices(async (services) => {
    const service = await findService(services, parameters[0]!);
    const secrets = await services.get(ServiceSecretsRepository).findOf(service.name);
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

export async function addService(invocation: Invocation): Promise<Report> {
  const scopes = requireScopes(textOption(invocation, 'allow') ?? 'none');
  return withServices(async (services) => {
    const actor = operatorOf(invocation);
    const name = invocation.parameters[0]!;
    const { id, secret } = await services.get(ServiceChanges).add(name, scopes, actor);
    return {
      lines: [`${name}: added, with the secret ${id}, which is shown only now`, `secret: ${secret}`],
      json: [{ name, allow: scopes, secretId: id, secret }],
    };
  });
}

export function rotateSecret(invocation: Invocation): Promise<Report> {
  return withServices(async (services) => {
    const actor = operatorOf(invocation);
    const { name } = await findService(services, invocation.parameters[0]!);
    const { id, secret } = await services.get(ServiceChanges).rotate(name, actor);
    return {
      lines: [`${name}: another secret, ${id}, which is shown only now`, `secret: ${secret}`],
      json: [{ name, secretId: id, secret }],
    };
  });
}

export function revokeSecret(invocation: Invocation): Promise<Report> {
  return withServices(async (services) => {
    const actor = operatorOf(invocation);
    const [text = '', id] = invocation.parameters;
    const endSessions = invocation.options['endSessions'] === true;
    const { name } = await findService(services, text);
    const change = { secretId: id, endSessions };
    const { secretId, revoked } = await services.get(ServiceChanges).revokeSecret(name, change, actor);
    const ended = endSessions ? ', and every session that a code for the service opened has ended' : '';
    return {
      lines: [`${name}: the secret ${secretId} ${revoked ? 'is revoked' : 'was revoked already'}${ended}`],
      json: [{ name, secretId, changed: revoked, sessionsEnded: endSessions }],
    };
  });
}

interface ServiceChange {
  /** Returns false if there was nothing to change. */
  make: (changes: ServiceChanges, name: string, actor: OperatorActor) => Promise<boolean>;
  done: string;
  unchanged: string;
}

function changeService(invocation: Invocation, { make, done, unchanged }: ServiceChange): Promise<Report> {
  return withServices(async (services) => {
    const actor = operatorOf(invocation);
    const { name } = await findService(services, invocation.parameters[0]!);
    const changed = await make(services.get(ServiceChanges), name, actor);
    return { lines: [`${name}: ${changed ? done : unchanged}`], json: [{ name, changed }] };
  });
}

export async function allowService(invocation: Invocation): Promise<Report> {
  const text = invocation.parameters[1]!;
  const scopes = requireScopes(text);
  return changeService(invocation, {
    make: (changes, name, actor) => changes.allow(name, scopes, actor),
    done: `may ask for ${text}`,
    unchanged: `may ask for ${text} already`,
  });
}

function requireScopes(text: string): ServiceScope[] {
  const scopes = typedScopes(text);
  if (scopes) return scopes;
  throw new CannotRunError(`expected none, or some of ${SERVICE_SCOPES.join(', ')}, separated by commas`);
}

export function disableService(invocation: Invocation): Promise<Report> {
  return changeService(invocation, {
    make: (changes, name, actor) => changes.disable(name, actor),
    done: 'disabled, every session that a code for it opened has ended',
    unchanged: 'is disabled already',
  });
}

export function enableService(invocation: Invocation): Promise<Report> {
  return changeService(invocation, {
    make: (changes, name, actor) => changes.enable(name, actor),
    done: 'enabled',
    unchanged: 'is not disabled',
  });
}

export function removeService(invocation: Invocation): Promise<Report> {
  return changeService(invocation, {
    make: (changes, name, actor) => changes.remove(name, actor),
    done: 'removed, for good',
    unchanged: 'is removed already',
  });
}
