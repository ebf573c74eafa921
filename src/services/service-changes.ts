import { Injectable } from '@nestjs/common';
import { type Actor, principalOf, type ServiceScope } from '../access/principal.js';
import { Env } from '../config/env.js';
import { type Transaction, Transactions, UNCHANGED } from '../database/transactions/transactions.js';
import { EventsRepository } from '../events/events.repository.js';
import { newEntityId } from '../identifiers/entity-id.js';
import { type Call, ServiceCallsRepository } from './service-calls.repository.js';
import {
  hashSecret,
  isServiceName,
  newSecret,
  reservedNames,
  shownText,
  storedText,
} from './service-secrets.js';
import { ServiceSecret, ServiceSecretsRepository } from './service-secrets.repository.js';
import { RefusedError } from '../problems/problem.js';
import { Service, ServicesRepository } from './services.repository.js';

const INVALID_NAME =
  'the name of a service has 1 to 40 lower-case letters, digits and hyphens, the first a letter (service_name)';

const CALL_TO_ITSELF = [
  'a service needs no permission to call itself: name another service',
  'validation_failed',
  { extensions: { errors: [{ field: 'to', message: 'must be another service' }] } },
] as const;

export const MAX_LIVE_SECRETS = 2;

export interface IssuedSecret {
  id: string;
  secret: string;
}

type ServiceOutcome = { kind: 'done' | 'unchanged' };

/** Each change locks the service first. */
@Injectable()
export class ServiceChanges {
  constructor(
    private readonly services: ServicesRepository,
    private readonly secrets: ServiceSecretsRepository,
    private readonly calls: ServiceCallsRepository,
    private readonly events: EventsRepository,
    private readonly transactions: Transactions,
    private readonly env: Env,
  ) {}

  add(name: string, scopes: readonly ServiceScope[], actor: Actor): Promise<IssuedSecret> {
    if (!isServiceName(name)) throw new RefusedError(INVALID_NAME);
    const variable = reservedNames(this.env).get(name);
    if (variable !== undefined)
      throw new RefusedError(
        `${name} is the value of ${variable}, so no service can have this name (service_name_reserved)`,
      );
    const allow = storedText(scopes);
    return this.transactions.run({ principal: principalOf(actor) }, async (tx) => {
      const createdAt = Date.now();
      await this.services.insert(tx, { name, allow, createdAt });
      const data = { service: name, allow: shownText(allow) };
      await this.events.record(tx, { type: 'service.created', actor, data });
      return this.issue(tx, { service: name, createdAt }, actor);
    });
  }

  allow(name: string, scopes: readonly ServiceScope[], actor: Actor): Promise<ServiceOutcome> {
    const allow = storedText(scopes);
    return this.change(name, async (tx, service) => {
      requireNotRemoved(service);
      if (service.allow === allow) return UNCHANGED;
      await this.services.update(tx, name, { allow });
      const data = { service: name, from: shownText(service.allow), to: shownText(allow) };
      await this.events.record(tx, { type: 'service.allowed', actor, data });
      return { kind: 'done' };
    });
  }

  rotate(name: string, actor: Actor): Promise<IssuedSecret> {
    return this.change(name, async (tx, service) => {
      requireNotRemoved(service);
      const known = await this.secrets.findOf(name, tx);
      if (liveOf(known).length >= MAX_LIVE_SECRETS)
        throw new RefusedError(
          `the service ${name} has two live secrets: revoke one of them first (too_many_secrets)`,
        );
      // Must be the newer secret even if the clock is slow.
      const createdAt = Math.max(Date.now(), (known.at(-1)?.createdAt ?? 0) + 1);
      return this.issue(tx, { service: name, createdAt }, actor);
    });
  }

  /** Revokes the named secret, or the older of two. `endSessions` ends all sessions that codes for the service opened. */
  revokeSecret(
    name: string,
    { secretId, endSessions }: { secretId?: string | undefined; endSessions: boolean },
    actor: Actor,
  ): Promise<{ secretId: string; revoked: boolean }> {
    return this.change(name, async (tx, service) => {
      const known = await this.secrets.findOf(name, tx);
      const live = liveOf(known);
      if (secretId === undefined && live.length < MAX_LIVE_SECRETS)
        throw new RefusedError(
          `the service ${name} does not have two live secrets: give the id of the secret to revoke (secret_not_named)`,
        );
      const secret = secretId === undefined ? live[0] : known.find(({ id }) => id === secretId);
      if (!secret) throw new RefusedError(`the service ${name} has no secret ${secretId} (secret_not_found)`);
      const revoked = live.includes(secret);
      if (revoked) {
        await this.secrets.revoke(tx, [secret.id], Date.now());
        const data = { service: name, secretId: secret.id };
        await this.events.record(tx, { type: 'service.secret_revoked', actor, data });
      }
      if (endSessions) {
        await this.services.update(tx, name, { epoch: service.epoch + 1 });
        await this.recordEnd(tx, 'service.sessions_ended', name, actor);
      }
      return { secretId: secret.id, revoked };
    });
  }

  disable(name: string, actor: Actor): Promise<ServiceOutcome> {
    return this.change(name, async (tx, { disabledAt, epoch }) => {
      if (disabledAt !== null) return UNCHANGED;
      await this.services.update(tx, name, { disabledAt: Date.now(), epoch: epoch + 1 });
      await this.recordEnd(tx, 'service.disabled', name, actor);
      return { kind: 'done' };
    });
  }

  enable(name: string, actor: Actor): Promise<ServiceOutcome> {
    return this.change(name, async (tx, service) => {
      requireNotRemoved(service);
      if (service.disabledAt === null) return UNCHANGED;
      await this.services.update(tx, name, { disabledAt: null });
      await this.events.record(tx, { type: 'service.enabled', actor, data: { service: name } });
      return { kind: 'done' };
    });
  }

  remove(name: string, actor: Actor): Promise<ServiceOutcome> {
    return this.change(name, async (tx, { disabledAt, removedAt, epoch }) => {
      if (removedAt !== null) return UNCHANGED;
      const now = Date.now();
      const live = liveOf(await this.secrets.findOf(name, tx)).map(({ id }) => id);
      if (live.length > 0) await this.secrets.revoke(tx, live, now);
      const change = { disabledAt: disabledAt ?? now, removedAt: now, epoch: epoch + 1 };
      await this.services.update(tx, name, change);
      await this.recordEnd(tx, 'service.removed', name, actor);
      return { kind: 'done' };
    });
  }

  /** The callee may be removed meanwhile, because each use of the call checks both services. */
  allowCall({ caller, callee }: Call, actor: Actor): Promise<ServiceOutcome> {
    if (caller === callee) throw new RefusedError(...CALL_TO_ITSELF);
    return this.change(caller, async (tx, service) => {
      requireNotRemoved(service);
      requireNotRemoved(requireFound(callee, await this.services.find(callee, tx)));
      if (!(await this.calls.allow(tx, { caller, callee }, Date.now()))) return UNCHANGED;
      const data = { service: caller, to: callee };
      await this.events.record(tx, { type: 'service.call_allowed', actor, data });
      return { kind: 'done' };
    });
  }

  revokeCall({ caller, callee }: Call, actor: Actor): Promise<ServiceOutcome> {
    return this.change(caller, async (tx) => {
      requireFound(callee, await this.services.find(callee, tx));
      if (!(await this.calls.revoke(tx, { caller, callee }))) return UNCHANGED;
      const data = { service: caller, to: callee };
      await this.events.record(tx, { type: 'service.call_revoked', actor, data });
      return { kind: 'done' };
    });
  }

  /** Only the service itself learns why its tokens ended; all services learn that they did. */
  private async recordEnd(
    tx: Transaction,
    type: 'service.sessions_ended' | 'service.disabled' | 'service.removed',
    name: string,
    actor: Actor,
  ): Promise<void> {
    const data = { service: name };
    await this.events.record(tx, { type, actor, data }, { type: 'service.tokens_ended', actor, data });
  }

  private change<T>(name: string, decide: (tx: Transaction, service: Service) => Promise<T>): Promise<T> {
    return this.transactions.run({ principal: 'services', row: name }, async (tx) => {
      return decide(tx, requireFound(name, await this.services.raise(tx, name)));
    });
  }

  private async issue(
    tx: Transaction,
    { service, createdAt }: Pick<ServiceSecret, 'service' | 'createdAt'>,
    actor: Actor,
  ): Promise<IssuedSecret> {
    const id = newEntityId();
    const secret = newSecret();
    await this.secrets.insert(tx, { id, service, hash: hashSecret(secret), createdAt });
    const data = { service, secretId: id };
    await this.events.record(tx, { type: 'service.secret_added', actor, data });
    return { id, secret };
  }
}

function liveOf(secrets: readonly ServiceSecret[]): ServiceSecret[] {
  return secrets.filter(({ revokedAt }) => revokedAt === null);
}

function requireFound(name: string, service: Service | null): Service {
  if (!service) throw new RefusedError(`there is no service ${name}`, 'service_not_found');
  return service;
}

function requireNotRemoved({ name, removedAt }: Service): void {
  if (removedAt !== null)
    throw new RefusedError(
      `the service ${name} was removed for good: add a service with another name`,
      'service_removed',
    );
}
