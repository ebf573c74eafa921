import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type {
  OperatorActor,
  ServicePrincipal,
  ServiceScope,
  UserPrincipal,
} from '../../src/access/principal.js';
import { LiveTokens } from '../../src/auth/authentication.guard.js';
import type { AccessTokenClaims } from '../../src/auth/tokens/access-token.js';
import { TokenIssuer } from '../../src/auth/tokens/token-issuer.js';
import { ServiceTokens } from '../../src/introspection/service-tokens.service.js';
import { LastUses } from '../../src/services/last-uses.js';
import { ServiceCallsRepository, stateOfWay } from '../../src/services/service-calls.repository.js';
import { ServiceChanges } from '../../src/services/service-changes.js';
import { ServicesModule } from '../../src/services/services.module.js';
import { ServiceCredentials } from '../../src/services/service-credentials.js';
import { ServiceSecret, ServiceSecretsRepository } from '../../src/services/service-secrets.repository.js';
import { times } from '../support/at-once.js';
import { openDataLayer } from '../support/data-source.js';
import { recordStatements } from '../support/executed-statements.js';
import { eventsSince, knownEvents } from '../support/feed.js';
import { wired } from '../support/wired.js';
import { basic } from '../support/services.js';

const ROOT: OperatorActor = { kind: 'operator', id: 'root', reason: 'a test' };
const HOUR_MS = 3_600_000;

const data = await openDataLayer({ JWT_ISSUER: 'https-issuer', JWT_AUDIENCE: 'audience' });
const { dataSource, transactions } = data;
const services = await wired(data, ServicesModule);
const secrets = services.get(ServiceSecretsRepository, { strict: false });
const uses = services.get(LastUses, { strict: false });
const changes = services.get(ServiceChanges, { strict: false });
afterAll(async () => {
  await uses.onApplicationShutdown();
  await data.close();
});

const credentials = new ServiceCredentials(secrets, uses);
let name: string;
let added = 0;

beforeEach(() => {
  added += 1;
  name = `service-${added}`;
});

const add = async (...scopes: ServiceScope[]) => changes.add(name, scopes, ROOT);
const authenticate = (secret: string, user = name): Promise<ServicePrincipal | undefined> =>
  credentials.authenticate(basic(user, secret));
const row = async () => (await data.db.query('SELECT * FROM services WHERE name = ?', [name]))[0]!;
const liveSecrets = async () =>
  (await secrets.findOf(name)).filter(({ revokedAt }) => revokedAt === null).map(({ id }) => id);

/** Tells all services that no token which names the service is valid any longer. */
const ended = () => ['service.tokens_ended', { service: name }];

/** Runs a change, and returns the types that it left in the record, with their data. */
async function recorded(change: () => Promise<unknown>): Promise<[type: string, data: unknown][]> {
  const known = await knownEvents(data.db);
  await change();
  const events = await eventsSince(data.db, known);
  const common = { actor_type: 'operator', actor_id: 'root', reason: 'a test', org_id: null, user_id: null };
  for (const event of events) expect(event).toMatchObject(common);
  return events.map(({ type, data: what }) => [type, what]);
}

it('a service is looked up by no query if the header has not the shape of a secret, or of a name', async () => {
  const { secret } = await add();
  const executed = recordStatements(dataSource);
  const wrong = [basic(name, 'guess'), basic(name, secret.slice(0, -1)), basic(name.toUpperCase(), secret)];
  for (const header of [undefined, `Bearer ${secret}`, ...wrong])
    expect(await credentials.authenticate(header)).toBeUndefined();
  expect(executed).toEqual([]);
});

describe('a service is added', () => {
  it('once, whoever else adds it at the same time', async () => {
    const results = await Promise.allSettled(times(6, () => add('introspect')));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const result of results.filter(({ status }) => status === 'rejected'))
      expect(String((result as PromiseRejectedResult).reason)).toContain('service_name_taken');
    expect(await liveSecrets()).toHaveLength(1);
  });

  it('not under a name that a token means something else by, or that is no name', async () => {
    const noNames = ['', 'Billing', '1a', '-a', 'a b', 'a'.repeat(41), 'ä', 'a\n'];
    for (const wrong of ['audience', 'https-issuer', ...noNames]) {
      const adding = (async () => changes.add(wrong, [], ROOT))();
      await expect(adding, JSON.stringify(wrong)).rejects.toThrow(/service_name/);
    }
    expect(await data.db.query("SELECT name FROM services WHERE name IN ('audience', 'a')")).toEqual([]);
  });

  it('with its row and its events, or not at all', async () => {
    const types = await recorded(() => add('memberships'));
    const [secretId] = await liveSecrets();
    expect(types).toEqual([
      ['service.created', { service: name, allow: 'memberships' }],
      ['service.secret_added', { service: name, secretId }],
    ]);
    expect(await recorded(() => add().catch(() => undefined))).toEqual([]);
  });
});

describe('a service has at most two live secrets', () => {
  it('however many are added at the same time', async () => {
    await add();
    const results = await Promise.allSettled(times(8, () => changes.rotate(name, ROOT)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await liveSecrets()).toHaveLength(2);
  });

  it('of which the one that was added first is the older, also if it was added by a clock that is ahead', async () => {
    const first = await add();
    const ahead = 'UPDATE service_secrets SET created_at = ? WHERE id = ?';
    await data.db.query(ahead, [Date.now() + HOUR_MS, first.id]);
    await changes.rotate(name, ROOT);
    const { secretId } = await changes.revokeSecret(name, { endSessions: false }, ROOT);
    expect(secretId).toBe(first.id);
  });

  it('and none is revoked by its age where there is only one, however often it is asked', async () => {
    const first = await add();
    const second = await changes.rotate(name, ROOT);
    const revoke = () => changes.revokeSecret(name, { endSessions: false }, ROOT);
    const results = await Promise.allSettled(times(4, revoke));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await authenticate(first.secret)).toBeUndefined();
    expect(await authenticate(second.secret)).toMatchObject({ name });
  });

  it('of which a leaked one is revoked with the sessions, also if it was revoked before', async () => {
    const { id } = await add();
    const revoke = () => changes.revokeSecret(name, { secretId: id, endSessions: true }, ROOT);
    expect(await recorded(revoke)).toEqual([
      ['service.secret_revoked', { service: name, secretId: id }],
      ['service.sessions_ended', { service: name }],
      ended(),
    ]);
    expect(await row()).toMatchObject({ epoch: 1 });
    expect(await recorded(revoke)).toEqual([['service.sessions_ended', { service: name }], ended()]);
    expect(await row()).toMatchObject({ epoch: 2 });
  });

  it('and revokes none of another service', async () => {
    await add();
    const other = await changes.add(`${name}-other`, [], ROOT);
    const revocation = changes.revokeSecret(name, { secretId: other.id, endSessions: true }, ROOT);
    await expect(revocation).rejects.toThrow(/secret_not_found/);
    expect(await authenticate(other.secret, `${name}-other`)).toBeDefined();
    expect(await row()).toMatchObject({ epoch: 0 });
  });
});

describe('a service that is', () => {
  it('allowed something else is told so at its next request', async () => {
    const { secret } = await add('introspect');
    const allow = (...scopes: ServiceScope[]) => recorded(() => changes.allow(name, scopes, ROOT));
    const event = (from: string, to: string) => [['service.allowed', { service: name, from, to }]];
    expect(await allow('events')).toEqual(event('introspect', 'events'));
    expect(await authenticate(secret)).toMatchObject({ allow: ['events'] });
    expect(await allow('events')).toEqual([]);
    expect(await allow()).toEqual(event('events', 'none'));
  });

  it('disabled is refused at its next request, and enabled again, with its epoch raised for good', async () => {
    const { secret } = await add();
    const disable = () => recorded(() => changes.disable(name, ROOT));
    const enable = () => recorded(() => changes.enable(name, ROOT));
    expect(await disable()).toEqual([['service.disabled', { service: name }], ended()]);
    expect(await authenticate(secret)).toBeUndefined();
    const disabled = await row();
    expect(disabled).toMatchObject({ epoch: 1 });
    expect(await disable()).toEqual([]);
    expect(await row()).toEqual(disabled);
    expect(await enable()).toEqual([['service.enabled', { service: name }]]);
    expect(await authenticate(secret)).toMatchObject({ name });
    expect(await enable()).toEqual([]);
    expect(await row()).toMatchObject({ epoch: 1, disabled_at: null });
  });

  it('removed is refused for good, whatever is asked for', async () => {
    const { secret } = await add();
    await changes.rotate(name, ROOT);
    const removed = [['service.removed', { service: name }], ended()];
    expect(await recorded(() => changes.remove(name, ROOT))).toEqual(removed);
    expect(await authenticate(secret)).toBeUndefined();
    expect(await liveSecrets()).toEqual([]);
    const { disabled_at: disabledAt, removed_at: removedAt, epoch } = await row();
    expect({ epoch, same: disabledAt === removedAt }).toEqual({ epoch: 1, same: true });
    const refused = /service_removed/;
    await expect(changes.enable(name, ROOT)).rejects.toThrow(refused);
    await expect(changes.rotate(name, ROOT)).rejects.toThrow(refused);
    await expect(changes.allow(name, ['events'], ROOT)).rejects.toThrow(refused);
    await expect(add()).rejects.toThrow(/service_name_taken/);
    await expect(changes.rotate('nobody', ROOT)).rejects.toThrow(/service_not_found/);
    expect(await changes.disable(name, ROOT)).toMatchObject({ kind: 'unchanged' });
    expect(await changes.remove(name, ROOT)).toMatchObject({ kind: 'unchanged' });
  });

  it('removed while secrets are added keeps none', async () => {
    await add();
    const rotate = () => changes.rotate(name, ROOT);
    await Promise.allSettled([rotate(), changes.remove(name, ROOT), rotate()]);
    expect(await liveSecrets()).toEqual([]);
  });
});

describe('a call of one service to another', () => {
  const calls = services.get(ServiceCallsRepository, { strict: false });
  const callee = () => `${name}-callee`;
  const third = () => `${name}-third`;
  const allow = (caller = name, to = callee()) => changes.allowCall({ caller, callee: to }, ROOT);
  const revoke = (caller = name, to = callee()) => changes.revokeCall({ caller, callee: to }, ROOT);
  const state = async (...way: string[]) => stateOfWay(await calls.findStates([name, callee(), ...way]));
  const allowed = () => [['service.call_allowed', { service: name, to: callee() }]];
  const revoked = () => [['service.call_revoked', { service: name, to: callee() }]];

  beforeEach(async () => {
    for (const one of [name, callee(), third()]) await changes.add(one, [], ROOT);
  });

  it('is allowed and revoked once, in its direction, by a change and one event', async () => {
    expect(await state()).toBeUndefined();
    expect(await recorded(allow)).toEqual(allowed());
    expect(await state()).toBe(0);
    expect(await calls.findStates([callee(), name])).toEqual([undefined]);
    expect(await recorded(allow)).toEqual([]);
    expect(await recorded(revoke)).toEqual(revoked());
    expect(await state()).toBeUndefined();
    expect(await recorded(revoke)).toEqual([]);
    expect(await recorded(allow)).toEqual(allowed());
    expect(await state()).toBe(1);
  });

  it('is not allowed for the next service of a way', async () => {
    await allow();
    expect(await calls.findStates([name, callee(), third()])).toEqual([expect.anything(), undefined]);
    expect(await state(third())).toBeUndefined();
    await allow(callee(), third());
    expect(await state(third())).toBe(0);
  });

  it.each<[what: string, end: () => Promise<unknown>]>([
    ['the call is revoked', () => revoke()],
    ['a later call is revoked', () => revoke(callee(), third())],
    ['the caller is disabled', () => changes.disable(name, ROOT)],
    ['a service between is disabled', () => changes.disable(callee(), ROOT)],
    ['the last service is disabled', () => changes.disable(third(), ROOT)],
  ])('has a state that never returns after %s', async (_what, end) => {
    await allow();
    await allow(callee(), third());
    const before = (await state(third()))!;
    await end();
    expect(await state(third())).toBeUndefined();
    for (const one of [name, callee(), third()]) await changes.enable(one, ROOT);
    await allow();
    await allow(callee(), third());
    expect(await state(third())).toBeGreaterThan(before);
  });

  it('has another state once a secret is revoked with all sessions, and none without one of its services', async () => {
    await allow();
    const [secret] = await secrets.findOf(callee());
    await changes.revokeSecret(callee(), { secretId: secret!.id, endSessions: true }, ROOT);
    expect(await state()).toBe(1);
    await changes.remove(callee(), ROOT);
    expect(await state()).toBeUndefined();
    expect(await calls.findNeighbours(name)).toEqual({ calls: [], calledBy: [] });
  });

  it('is listed at both services, by name', async () => {
    for (const to of [third(), callee()]) await allow(name, to);
    await allow(callee(), third());
    await revoke(name, third());
    expect(await calls.findNeighbours(name)).toEqual({ calls: [callee()], calledBy: [] });
    expect(await calls.findNeighbours(third())).toEqual({ calls: [], calledBy: [callee()] });
    await allow(name, third());
    expect(await calls.findNeighbours(third())).toEqual({ calls: [], calledBy: [name, callee()] });
    await changes.disable(third(), ROOT);
    expect(await calls.findNeighbours(name)).toEqual({ calls: [callee(), third()], calledBy: [] });
  });

  it('is refused to itself, and with a service that is unknown or removed', async () => {
    await expect((async () => allow(name, name))()).rejects.toThrow(/validation_failed/);
    await expect(allow(name, 'nobody')).rejects.toThrow(/service_not_found/);
    await expect(allow('nobody', name)).rejects.toThrow(/service_not_found/);
    await expect(revoke(name, 'nobody')).rejects.toThrow(/service_not_found/);
    await allow();
    await changes.remove(third(), ROOT);
    await expect(allow(name, third())).rejects.toThrow(/service_removed/);
    await expect(allow(third(), name)).rejects.toThrow(/service_removed/);
    await changes.remove(callee(), ROOT);
    expect(await recorded(revoke)).toEqual(revoked());
    expect(await data.db.query('SELECT epoch FROM service_calls WHERE caller = ?', [name])).toEqual([
      { epoch: 1 },
    ]);
  });

  describe('that ends while a token for it is issued', () => {
    const live = services.get(LiveTokens, { strict: false });
    const issuer = services.get(TokenIssuer, { strict: false });
    const tokens = new ServiceTokens(live, calls, issuer, data.env);

    it('gives a service whose secret was revoked with all sessions a token that is dead at birth', async () => {
      await allow();
      const [secret] = await secrets.findOf(name);
      const before: ServicePrincipal = { kind: 'service', name, allow: [], epoch: 0 };
      const isLive = async (): Promise<string> => {
        const { access_token } = await tokens.issueOwn(before, callee());
        return (await live.find(access_token)).kind;
      };
      expect(await isLive()).toBe('live_service');
      await changes.revokeSecret(name, { secretId: secret!.id, endSessions: true }, ROOT);
      expect(await isLive()).toBe('refused');
    });

    it('gives no token for a subject token whose way ended after its check', async () => {
      await allow();
      await allow(callee(), third());
      const passed = Object.create(live) as LiveTokens;
      const exp = Math.floor(Date.now() / 1000) + 60;
      passed.find = () => {
        const claims = { aud: callee(), via_epoch: 0, exp } as AccessTokenClaims;
        return Promise.resolve({
          kind: 'live',
          claims,
          user: { id: 'ada', via: [name] } as unknown as UserPrincipal,
        });
      };
      const late = new ServiceTokens(passed, calls, issuer, data.env);
      const caller: ServicePrincipal = { kind: 'service', name: callee(), allow: [], epoch: 0 };
      const exchange = () => late.exchange(caller, third(), 'a token');
      await expect(exchange()).resolves.toMatchObject({ token_type: 'Bearer' });
      await revoke();
      await expect(exchange()).rejects.toMatchObject({ code: 'invalid_subject_token' });
      await allow();
      await expect(exchange()).rejects.toMatchObject({ code: 'invalid_subject_token' });
    });
  });

  it('is allowed once, and revoked once, by several operators at once', async () => {
    for (const change of [allow, revoke]) {
      const outcomes = await Promise.all(times(6, () => change()));
      expect(outcomes.filter(({ kind }) => kind === 'done')).toHaveLength(1);
    }
    expect(await data.db.query('SELECT epoch FROM service_calls WHERE caller = ?', [name])).toEqual([
      { epoch: 1 },
    ]);
  });
});

describe('a service shows when a secret was used last', () => {
  const write = (...use: [string, number]) => secrets.noteUse(...use);
  const lastUses = async () => (await secrets.findOf(name)).map(({ lastUsedAt }) => lastUsedAt);

  it('to the hour, written once in it', async () => {
    const { secret } = await add();
    expect(await lastUses()).toEqual([null]);
    const before = Date.now();
    await Promise.all(times(10, () => authenticate(secret)));
    await uses.onApplicationShutdown();
    const [hour] = await lastUses();
    expect(hour! % HOUR_MS).toBe(0);
    expect(hour).toBeGreaterThan(before - HOUR_MS);
    const executed = recordStatements(dataSource);
    await authenticate(secret);
    // Nor does an instance that did not write it.
    await new ServiceCredentials(secrets, new LastUses()).authenticate(basic(name, secret));
    await uses.onApplicationShutdown();
    expect(executed.map(({ verb }) => verb)).toEqual(['SELECT', 'SELECT']);
  });

  it('again in the next hour, and never back', async () => {
    const { id } = await add();
    const noon = 12 * HOUR_MS;
    const used = { id, lastUsedAt: null };
    const note = async (at: number, by = uses) => {
      by.note(used, write, at);
      await by.onApplicationShutdown();
      return lastUses();
    };
    expect(await note(noon + 5)).toEqual([noon]);
    expect(await note(noon + HOUR_MS - 1)).toEqual([noon]);
    expect(await note(noon + HOUR_MS)).toEqual([noon + HOUR_MS]);
    expect(await note(noon + 5, new LastUses())).toEqual([noon + HOUR_MS]);
  });

  it('without failing a request where it cannot be written, which is tried again a minute later', async () => {
    const { id, secret } = await add();
    const failing = new ServiceSecretsRepository(dataSource.getRepository(ServiceSecret), transactions);
    let tries = 0;
    failing.noteUse = async (...use) => {
      tries += 1;
      if (tries === 1) throw new Error('read-only');
      await secrets.noteUse(...use);
    };
    const others = new LastUses();
    const tryToWrite = (...use: [string, number]) => failing.noteUse(...use);
    expect(await new ServiceCredentials(failing, others).authenticate(basic(name, secret))).toBeDefined();
    await others.onApplicationShutdown();
    others.note({ id, lastUsedAt: null }, tryToWrite);
    others.note({ id, lastUsedAt: null }, tryToWrite, Date.now() + 61_000);
    await others.onApplicationShutdown();
    expect(tries).toBe(2);
    expect(await lastUses()).not.toEqual([null]);
  });
});
