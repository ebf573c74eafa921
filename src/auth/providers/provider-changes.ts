import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { type Actor, principalOf } from '../../access/principal.js';
import { Env } from '../../config/env.js';
import { type Transaction, Transactions, UNCHANGED } from '../../database/transactions/transactions.js';
import { EventsRepository } from '../../events/events.repository.js';
import { newEntityId } from '../../identifiers/entity-id.js';
import { Mails } from '../../mail/mails.js';
import { RefusedError } from '../../problems/problem.js';
import { UserChanges } from '../../users/user-changes.js';
import { UserUpdatesRepository } from '../../users/users.updates.js';
import { SessionRevocation } from '../sessions/session-revocation.js';
import type { EncryptedSecrets } from '../tokens/derived-keys.js';
import { isAllowedEndpoint } from './provider-fetch.js';
import { IdentitiesRepository } from './identities.repository.js';
import { type ProviderDomain, ProviderDomainsRepository } from './provider-domains.repository.js';
import { ProviderLoginsRepository } from './provider-logins.repository.js';
import {
  callbackUri,
  MIN_SESSION_MAX_AGE,
  type ProviderSettings,
  readSettings,
  SETTING_NAMES,
  settingsFault,
} from './provider-settings.js';
import { type Provider, ProvidersRepository } from './providers.repository.js';

export const UNKNOWN_PROVIDER = { code: 'provider_not_found', detail: 'No provider has this name.' } as const;

const USERS_AT_ONCE = 100;

/** What operators can change. */
export interface ProviderFields extends ProviderSettings {
  title: string;
  clientId: string;
  domains: string[];
  required: boolean;
}

export interface NewProvider extends ProviderFields {
  name: string;
  issuer: string;
}

const FIELD_NAMES = ['title', 'clientId', 'domains', 'required', ...SETTING_NAMES] as const;

type FieldName = (typeof FIELD_NAMES)[number];

type ProviderChangeOutcome = { kind: 'done' | 'unchanged' };

/** Each change raises the provider first, as each login does that creates or links a user. */
@Injectable()
export class ProviderChanges {
  constructor(
    private readonly providers: ProvidersRepository,
    private readonly domains: ProviderDomainsRepository,
    private readonly identities: IdentitiesRepository,
    private readonly logins: ProviderLoginsRepository,
    private readonly users: UserChanges,
    private readonly userUpdates: UserUpdatesRepository,
    private readonly revocation: SessionRevocation,
    private readonly mails: Mails,
    private readonly events: EventsRepository,
    private readonly transactions: Transactions,
    private readonly env: Env,
  ) {}

  /** Refuses what no provider can have. Call it before the provider is asked. */
  requireAddable(provider: NewProvider): void {
    const { name, issuer } = provider;
    const { jwtIssuer, production } = this.env;
    if (callbackUri(jwtIssuer, name) === undefined)
      throw new RefusedError(
        'JWT_ISSUER is not a URL: providers redirect browsers to a path below it (issuer_is_no_url)',
      );
    if (!isAllowedEndpoint(issuer, production))
      throw new RefusedError('--issuer must be https (settings_refused)');
    this.requireFitting(provider, issuer, provider.sessionMaxAge);
  }

  add(provider: NewProvider, secret: string, secrets: EncryptedSecrets, actor: Actor): Promise<void> {
    const { name, issuer } = provider;
    this.requireAddable(provider);
    return this.transactions.run({ principal: principalOf(actor) }, async (tx) => {
      const id = newEntityId();
      await this.providers.insert(tx, {
        id,
        name,
        issuer,
        ...columnsOf(provider),
        secret: secrets.encrypt(Buffer.from(secret), id),
        createdAt: Date.now(),
      });
      await this.domains.insertAll(tx, id, provider.domains);
      await this.events.record(tx, { type: 'provider.added', actor, data: { provider: name } });
    });
  }

  change(
    name: string,
    change: Partial<ProviderFields>,
    actor: Actor,
  ): Promise<{ kind: 'done'; changed: FieldName[] } | { kind: 'unchanged' }> {
    return this.onProvider(name, async (tx, provider) => {
      const { id, issuer } = provider;
      const before = fieldsOf(provider, await this.domains.findOfAll([id], tx));
      const after = { ...before, ...change };
      const changed = FIELD_NAMES.filter((field) => !isDeepStrictEqual(before[field], after[field]));
      if (changed.length === 0) return UNCHANGED;
      this.requireFitting(after, issuer, change.sessionMaxAge);
      if (changed.includes('subjectClaim') && (await this.identities.count(id, tx)) > 0)
        throw new RefusedError(
          'users are linked by the present subject claim, and another one would name other users (subject_claim_used)',
        );

      await this.providers.update(tx, id, columnsOf(after));
      if (changed.includes('domains')) {
        await this.domains.deleteOf(tx, id);
        await this.domains.insertAll(tx, id, after.domains);
      }
      await this.events.record(tx, { type: 'provider.changed', actor, data: { provider: name, changed } });
      return { kind: 'done', changed };
    });
  }

  setSecret(name: string, secret: string, secrets: EncryptedSecrets, actor: Actor): Promise<void> {
    return this.onProvider(name, async (tx, { id }) => {
      await this.providers.update(tx, id, { secret: secrets.encrypt(Buffer.from(secret), id) });
      await this.events.record(tx, { type: 'provider.secret_set', actor, data: { provider: name } });
    });
  }

  disable(name: string, actor: Actor): Promise<ProviderChangeOutcome> {
    return this.onProvider(name, async (tx, { id, disabledAt }) => {
      if (disabledAt !== null) return UNCHANGED;
      await this.providers.update(tx, id, { disabledAt: Date.now() });
      await this.events.record(tx, { type: 'provider.disabled', actor, data: { provider: name } });
      return { kind: 'done' };
    });
  }

  enable(name: string, actor: Actor): Promise<ProviderChangeOutcome> {
    return this.onProvider(name, async (tx, { id, disabledAt }) => {
      if (disabledAt === null) return UNCHANGED;
      await this.providers.update(tx, id, { disabledAt: null });
      await this.events.record(tx, { type: 'provider.enabled', actor, data: { provider: name } });
      return { kind: 'done' };
    });
  }

  /** Ends all sessions of the users who are linked, in pages. Disable the provider first. Returns how many users. */
  async endSessions(name: string, actor: Actor): Promise<number> {
    const { id } = requireFound(name, await this.providers.find(name));
    let users = 0;
    for (let after = ''; ;) {
      const page = await this.identities.findUsers(id, after, USERS_AT_ONCE);
      if (page.length === 0) return users;
      const outcome = await this.revocation.revokeAllOfUsers(page, actor);
      if (outcome.kind === 'done') users += outcome.answer;
      after = page.at(-1)!;
    }
  }

  /**
   * Disables and deletes a provider, with its identities in pages. A command that was killed is run again.
   * Returns whose sessions it ended, and how many users have no password.
   */
  async remove(
    name: string,
    { actor, force, endSessions }: { actor: Actor; force: boolean; endSessions: boolean },
  ): Promise<{ ended: number; withoutPassword: number }> {
    const { id } = requireFound(name, await this.providers.find(name));
    const withoutPassword = await this.identities.countWithoutPassword(id);
    if (withoutPassword > 0 && !force)
      throw new RefusedError(
        `${withoutPassword} users of ${name} have no password, and need a reset by email to log in again: use --force (users_without_password)`,
      );
    await this.disable(name, actor);
    const ended = endSessions ? await this.endSessions(name, actor) : 0;
    for (;;) {
      const page = await this.identities.findUsers(id, '', USERS_AT_ONCE);
      if (page.length === 0) break;
      await this.onDisabled(name, id, (tx) => this.identities.deleteOfUsers(tx, id, page));
    }
    await this.onDisabled(name, id, async (tx) => {
      await this.identities.deleteOfProvider(tx, id);
      await this.domains.deleteOf(tx, id);
      await this.logins.deleteOfProvider(tx, id);
      await this.providers.delete(tx, id);
      await this.events.record(tx, { type: 'provider.removed', actor, data: { provider: name } });
    });
    return { ended, withoutPassword };
  }

  link(name: string, userId: string, subject: string, actor: Actor): Promise<ProviderChangeOutcome> {
    return this.onProvider(name, async (tx, { id: providerId, title }) => {
      const user = await this.users.raise(tx, actor, userId);
      if (!user) throw new RefusedError(`there is no user ${userId}`, 'user_not_found');
      const [known] = await this.identities.findOfPair(tx, { providerId, userId, subject });
      if (known?.userId === userId && known.subject === subject) return UNCHANGED;
      if (known?.userId === userId)
        throw new RefusedError('the user is linked to another subject: unlink it first', 'identity_taken');
      if (known)
        throw new RefusedError(`the subject is linked to the user ${known.userId}`, 'identity_taken');

      await this.identities.insert(tx, { providerId, subject, userId, createdAt: Date.now() });
      await user.record({ type: 'account.identity_linked', data: { provider: name, via: 'operator' } });
      const notice = { kind: 'identity_linked', recipient: user.email, senderId: userId } as const;
      await this.mails.notify(tx, { ...notice, details: JSON.stringify({ provider: title }) });
      return { kind: 'done' };
    });
  }

  /** Raises the epoch first: a login that read the identity before opens no session that is alive. */
  async unlink(name: string, userId: string, actor: Actor): Promise<void> {
    const { id } = requireFound(name, await this.providers.find(name));
    const outcome = await this.users.inUser({ actor }, userId, async (tx, user) => {
      await this.userUpdates.endSessions(tx, [userId]);
      if ((await this.identities.deleteOfUsers(tx, id, [userId])) === 0) return UNCHANGED;
      const event = { type: 'account.identity_unlinked', data: { provider: name } } as const;
      return user.recordWithEnd(event, { reason: 'operator' });
    });
    if (outcome.kind !== 'done')
      throw new RefusedError(`the user is not linked to a user of ${name} (not_linked)`);
  }

  private requireFitting(fields: ProviderFields, issuer: string, sessionMaxAge = 0): void {
    const fault =
      sessionMaxAge > Math.max(this.env.sessionMaxAge, MIN_SESSION_MAX_AGE)
        ? '--session-max-age must not exceed SESSION_MAX_AGE'
        : settingsFault(fields, { ...fields, issuer });
    if (fault !== undefined) throw new RefusedError(`${fault} (settings_refused)`);
  }

  /** Another operator may have enabled the provider meanwhile, or added one with its name. */
  private onDisabled(
    name: string,
    id: string,
    work: (tx: Transaction) => Promise<unknown>,
  ): Promise<unknown> {
    return this.onProvider(name, (tx, provider) => {
      if (provider.id === id && provider.disabledAt !== null) return work(tx);
      throw new RefusedError(`the provider ${name} was enabled meanwhile (provider_enabled)`);
    });
  }

  private onProvider<T>(
    name: string,
    decide: (tx: Transaction, provider: Provider) => Promise<T>,
  ): Promise<T> {
    return this.transactions.run({ principal: 'providers', row: name }, async (tx) => {
      return decide(tx, requireFound(name, await this.providers.raise(tx, name)));
    });
  }
}

/** @param ofAll the domains of any providers */
export function fieldsOf(provider: Provider, ofAll: readonly ProviderDomain[]): ProviderFields {
  const { id, title, clientId, required, settings } = provider;
  const domains = ofAll.filter(({ providerId }) => providerId === id).map(({ domain }) => domain);
  return { title, clientId, domains, required: required === 1, ...readSettings(settings) };
}

function columnsOf(fields: ProviderFields): Pick<Provider, 'title' | 'clientId' | 'required' | 'settings'> {
  const settings = Object.fromEntries(SETTING_NAMES.map((name) => [name, fields[name]]));
  const { title, clientId, required } = fields;
  return { title, clientId, required: required ? 1 : 0, settings: JSON.stringify(settings) };
}

function requireFound(name: string, provider: Provider | null): Provider {
  if (!provider)
    throw new RefusedError(`there is no provider ${name}`, 'provider_not_found', {
      detail: UNKNOWN_PROVIDER.detail,
    });
  return provider;
}
