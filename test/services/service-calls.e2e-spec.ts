import { beforeAll, describe, expect, it } from 'vitest';
import { accounts, accountsJson, BY_ROOT } from '../support/accounts-command.js';
import { eventsSince, knownEvents } from '../support/feed.js';
import { anOperator } from '../support/operators.js';
import type { Account } from '../support/personas.js';
import { aServiceCaller, aServiceClient, type ServiceCaller, tokenRequest } from '../support/services.js';
import { startService } from '../support/service.js';

interface Shown {
  calls: string[];
  calledBy: string[];
}

const BELOW = '/api/operators/services';
const NOBODY = 'a-service-that-never-was';

const service = await startService();
const { installation, db } = service;
let operator: Account;
let billing: ServiceCaller;
let ledger: ServiceCaller;
let others: ServiceCaller[];

beforeAll(async () => {
  operator = await anOperator(service);
  others = [await aServiceCaller(service, 'events')];
});

/** The same change by the command line and over HTTP. */
interface Way {
  call: (caller: string, to: string) => Promise<string>;
  revoke: (caller: string, to: string) => Promise<string>;
  show: (name: string) => Promise<Shown>;
  actor: () => object;
}

const byHttp = async (path: string, body: object = {}): Promise<string> => {
  const answer = await operator.post<{ code?: string }>(`${BELOW}/${path}`, { reason: 'a test', ...body });
  return answer.body.code ?? answer.text;
};
const byCommand = async (...parameters: string[]): Promise<string> => {
  const { code, stdout, stderr } = await accounts(installation, ['services', ...parameters, ...BY_ROOT]);
  return code === 0 ? stdout : stderr;
};

const HTTP: Way = {
  call: (caller, to) => byHttp(`${caller}/calls`, { to }),
  revoke: (caller, to) => byHttp(`${caller}/calls/${to}/revoke`),
  show: async (name) => (await operator.get<{ service: Shown }>(`${BELOW}/${name}`)).body.service,
  actor: () => ({ actor_type: 'operator', actor_id: operator.id }),
};
const COMMAND: Way = {
  call: (caller, to) => byCommand('call', caller, '--to', to),
  revoke: (caller, to) => byCommand('revoke-call', caller, '--to', to),
  show: async (name) => (await accountsJson<Shown>(installation, ['services', 'show', name]))[0]!,
  actor: () => ({ actor_type: 'operator', actor_id: 'root' }),
};

describe.each([
  ['HTTP', HTTP],
  ['the command line', COMMAND],
])('a call that an operator changes by %s', (_by, { call, revoke, show, actor }) => {
  beforeAll(async () => {
    billing = await aServiceCaller(service, 'events');
    ledger = await aServiceCaller(service, 'events');
    others.push(billing, ledger);
  });

  const links = async (): Promise<Shown[]> => [await show(billing.name), await show(ledger.name)];
  const both = (all: Shown[]) => all.map(({ calls, calledBy }) => ({ calls, calledBy }));
  const own = () => billing.requestToken(tokenRequest(ledger.name));

  it('is allowed and revoked at the next request, with one event each', async () => {
    expect((await own()).body).toMatchObject({ code: 'invalid_target' });
    const known = await knownEvents(db);
    const cursors = await Promise.all(
      others.map(async (one) => (await one.get<{ next: string }>('/api/events')).body.next),
    );

    await call(billing.name, ledger.name);
    expect((await own()).status).toBe(200);
    expect(both(await links())).toEqual([
      { calls: [ledger.name], calledBy: [] },
      { calls: [], calledBy: [billing.name] },
    ]);
    await call(billing.name, ledger.name);
    await revoke(billing.name, ledger.name);
    expect((await own()).body).toMatchObject({ code: 'invalid_target' });
    expect(both(await links())).toEqual([
      { calls: [], calledBy: [] },
      { calls: [], calledBy: [] },
    ]);
    await revoke(billing.name, ledger.name);

    const data = { service: billing.name, to: ledger.name };
    const common = { ...actor(), reason: 'a test', org_id: null, user_id: null, data };
    const events = await eventsSince(db, known);
    expect(events).toHaveLength(2);
    expect(events).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ ...common, type: 'service.call_allowed' }),
        expect.objectContaining({ ...common, type: 'service.call_revoked' }),
      ]),
    );
    for (const [index, one] of others.entries()) {
      const { body } = await one.get<{ events: object[] }>(`/api/events?after=${cursors[index]}`);
      const revoked = expect.objectContaining({ type: 'service.call_revoked', data }) as object;
      const allowed = expect.objectContaining({ type: 'service.call_allowed', data }) as object;
      expect(body.events, one.name).toEqual(one === billing ? [allowed, revoked] : [revoked]);
      expect(JSON.stringify(body.events)).not.toContain('a test');
    }
  });

  it('names two different services that exist', async () => {
    const { name } = await aServiceClient(db);
    const removed = await aServiceClient(db);
    await db.query('UPDATE services SET disabled_at = 1, removed_at = 1 WHERE name = ?', [removed.name]);
    const known = await knownEvents(db);
    for (const [caller, to, said] of [
      [name, name, /validation_failed/],
      [name, NOBODY, /service_not_found|there is no service/],
      [NOBODY, name, /service_not_found|there is no service/],
      [name, removed.name, /service_removed/],
      [removed.name, name, /service_removed/],
    ] as const)
      expect(await call(caller, to), `${caller} ${to}`).toMatch(said);
    for (const [caller, to] of [
      [name, NOBODY],
      [NOBODY, name],
    ] as const)
      expect(await revoke(caller, to)).toMatch(/service_not_found|there is no service/);
    await revoke(name, removed.name);
    expect(await eventsSince(db, known)).toEqual([]);
    expect(
      await db.query('SELECT * FROM service_calls WHERE caller = ? OR callee = ?', [name, name]),
    ).toEqual([]);
  });

  it('is not listed once a service is removed', async () => {
    const [one, other] = [await aServiceClient(db), await aServiceClient(db)];
    await call(one.name, other.name);
    await db.query('UPDATE services SET disabled_at = 1, removed_at = 1 WHERE name = ?', [other.name]);
    expect(await show(one.name)).toMatchObject({ calls: [], calledBy: [] });
    expect(await show(other.name)).toMatchObject({ calledBy: [one.name] });
  });
});

it.each([undefined, null, '', 'Billing', 'a'.repeat(41), 1, [], {}, 'a\n'])(
  'a call to %j is refused',
  async (to) => {
    const { name } = await aServiceClient(db);
    expect(await byHttp(`${name}/calls`, { to })).toBe('validation_failed');
  },
);

it.each(['Billing', 'a'.repeat(41), '%00', 'a.b'])('no call leads to %s', async (to) => {
  const { name } = await aServiceClient(db);
  expect(await byHttp(`${name}/calls/${to}/revoke`)).toBe('service_not_found');
});

it('the command line says what it needs, and what it did', async () => {
  const [{ name }, { name: to }] = [await aServiceClient(db), await aServiceClient(db)];
  expect(await byCommand('call', name)).toContain('--to <SERVICE>');
  expect(await byCommand('call', name, '--to', to)).toBe(`${name}: may now call ${to}\n`);
  expect(await byCommand('call', name, '--to', to)).toBe(`${name}: may already call ${to}\n`);
  const shown = (await accounts(installation, ['services', 'show', name])).stdout;
  expect(shown).toMatch(new RegExp(`^calls +${to}\\ncalledBy +-$`, 'm'));
  const revoked = await accountsJson(installation, ['services', 'revoke-call', name, '--to', to, ...BY_ROOT]);
  expect(revoked).toEqual([{ name, to, changed: true }]);
});
