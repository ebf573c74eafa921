import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { hangTimeoutMs } from '../../tooling/wait.js';
import { type Admission, createGuard, type Guard, type GuardOptions } from '../src/service/index.ts';
import { PaperAccounts } from './support/paper-accounts.ts';
import { by, type Claims, serviceClaims, signed, userClaims } from './support/signed-tokens.ts';

const INTROSPECT = '/api/auth/introspect';
const TOKEN = '/api/auth/token';
const REFUSED = { ok: false, status: 401, problem: { code: 'invalid_token' } };
const NOT_ALLOWED = { ok: false, status: 403, problem: { code: 'caller_not_allowed' } };
const UNAVAILABLE = { ok: false, status: 503, problem: { code: 'unavailable' } };

const open: Guard[] = [];
afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(open.splice(0).map((guard) => guard.close()));
});

function aGuard(more: Partial<GuardOptions> = {}) {
  const accounts = new PaperAccounts();
  const heard = vi.fn<(event: { type: string }) => void>();
  const guard = createGuard({ ...accounts.options, onEvent: heard, ...more });
  open.push(guard);
  const tell = async (event: Parameters<PaperAccounts['tell']>[0]): Promise<void> => {
    const before = heard.mock.calls.length;
    accounts.tell(event);
    await vi.waitFor(() => expect(heard.mock.calls.length).toBeGreaterThan(before), {
      timeout: hangTimeoutMs(),
    });
  };
  const headers = new Map<object, string>();
  const authorize = (claims: object, options = {}) => {
    const header = headers.get(claims) ?? `Bearer ${signed(claims)}`;
    headers.set(claims, header);
    return guard.authorize(header, options);
  };
  return { accounts, guard, tell, authorize };
}

const admitted = async (guard: Guard, claims: object): Promise<Admission> => {
  const answer = await guard.authorize(`Bearer ${signed(claims)}`);
  if (!answer.ok) throw new Error(answer.problem.code);
  return answer;
};

const nested = (...subs: unknown[]): object | undefined =>
  subs.reduce<object | undefined>((act, sub) => ({ sub, ...(act && { act }) }), undefined);

describe('the claims of a token', () => {
  it.each<[string, object]>([
    ['five services', by('a', 'b', 'c', 'd', 'e')],
    ['a service twice', by('orders', 'shop', 'orders')],
    ['the audience on the way', by('billing', 'orders')],
    ['a list of services', { ...by('orders'), act: [{ sub: 'service:orders' }] }],
    ['a text for the service', { ...by('orders'), act: 'service:orders' }],
    ['null for the service', { ...by('orders'), act: null }],
    ['null below the service', { ...by('orders'), act: { sub: 'service:orders', act: null } }],
    ['a user for the service', { ...by('orders'), act: { sub: randomUUID() } }],
    ['a name in capitals', { ...by('Orders') }],
    ['a user below the service', { ...by('orders'), act: nested(randomUUID(), 'service:orders') }],
    ['another client', { ...by('orders'), client_id: 'billing' }],
    ['no state of the way', { ...by('orders'), via_epoch: undefined }],
    ['a text for the state', { ...by('orders'), via_epoch: '7' }],
    ['a state and no way', { via_epoch: 7 }],
    ['a number for the login', { login_sid: 7 }],
    ['a list for the head', { branch_sid: [randomUUID()] }],
    ['no session', { sid: undefined }],
    ['a service for the user', { sub: 'service:orders', ...by('orders') }],
  ])('with %s are refused without a question', async (_what, more) => {
    const { accounts, authorize } = aGuard();
    expect(await authorize(userClaims(more))).toMatchObject(REFUSED);
    expect(accounts.count(INTROSPECT)).toBe(0);
  });

  it.each<[string, object]>([
    ['a session', { sid: randomUUID() }],
    ['a way', by('shop', 'orders')],
    ['an API key', { key: { id: randomUUID() } }],
    ['another client', { client_id: 'shop' }],
    ['no state', { via_epoch: undefined }],
    ['a name of no service', { sub: 'service:', client_id: '' }],
    ['a long name', { sub: `service:${'a'.repeat(41)}`, client_id: 'a'.repeat(41) }],
  ])('of a service itself with %s are refused without a question', async (_what, more) => {
    const { accounts, guard } = aGuard();
    const header = `Bearer ${signed(serviceClaims('orders', more))}`;
    expect(await guard.authorizeService(header, { from: ['orders'] })).toMatchObject(REFUSED);
    expect(accounts.count(INTROSPECT)).toBe(0);
  });

  it.each<[string[]]>([[[]], [['orders']], [['shop', 'orders']], [['a', 'b', 'c', 'd']]])(
    'name the way %j',
    async (way) => {
      const { authorize } = aGuard();
      expect(await authorize(userClaims(way.length === 0 ? {} : by(...way)))).toMatchObject({
        ok: true,
        via: way,
      });
    },
  );
});

describe('a link of a token', () => {
  const LINKS: [
    string,
    (of: Claims) => { ended: string; event: Parameters<PaperAccounts['tell']>[0] },
    questions: number,
  ][] = [
    ['session', ({ sid }) => ({ ended: sid, event: { type: 'session.ended', sessionId: sid } }), 0],
    [
      'login',
      ({ login_sid: id }) => ({
        ended: id as string,
        event: { type: 'session.ended', sessionId: id as string },
      }),
      0,
    ],
    [
      'head',
      ({ branch_sid: id }) => ({
        ended: id as string,
        event: { type: 'session.ended', sessionId: id as string },
      }),
      0,
    ],
    ['user', ({ sub }) => ({ ended: sub, event: { type: 'account.disabled', userId: sub } }), 1],
    [
      'epoch',
      ({ sub }) => ({
        ended: sub,
        event: { type: 'session.ended', userId: sub, data: { all: true, epoch: 1 } } as never,
      }),
      0,
    ],
    ...['shop', 'orders', 'billing'].map((service): (typeof LINKS)[number] => [
      `service ${service}`,
      () => ({
        ended: `service:${service}`,
        event: { type: 'service.tokens_ended', data: { service } } as never,
      }),
      1,
    ]),
    [
      'call',
      () => ({
        ended: 'service:orders',
        event: { type: 'service.call_revoked', data: { service: 'orders', to: 'billing' } } as never,
      }),
      1,
    ],
  ];

  it.each(LINKS)('ends by its event: %s', async (_what, end, questions) => {
    const { accounts, authorize, tell } = aGuard();
    const above = { login_sid: randomUUID(), branch_sid: randomUUID() };
    const claims = userClaims({ ...above, ...by('shop', 'orders') });
    const other = userClaims();
    expect([await authorize(claims), await authorize(other)]).toMatchObject([{ ok: true }, { ok: true }]);
    const { ended, event } = end(claims);
    accounts.ended.add(ended);
    expect(await authorize(claims)).toMatchObject({ ok: true });

    await tell(event);

    expect([await authorize(claims), await authorize(claims)]).toMatchObject([REFUSED, REFUSED]);
    expect(accounts.count(INTROSPECT)).toBe(2 + questions);
    expect(await authorize(other)).toMatchObject({ ok: true });
    expect(accounts.count(INTROSPECT)).toBe(2 + questions);
  });

  it('ends nothing when an operator allows a call, or a service ends that the token does not name', async () => {
    const { accounts, authorize, tell } = aGuard();
    const claims = userClaims(by('orders'));
    await authorize(claims);
    await tell({ type: 'service.call_allowed', data: { service: 'orders', to: 'billing' } } as never);
    await tell({ type: 'service.tokens_ended', data: { service: 'shop' } } as never);
    expect(await authorize(claims)).toMatchObject({ ok: true });
    expect(accounts.count(INTROSPECT)).toBe(1);
  });

  it('is the way with its state: a session that is live by one way says nothing of another', async () => {
    const { accounts, authorize } = aGuard();
    const { sub, sid } = userClaims();
    const ways = [{}, by('orders'), by('shop'), by('shop', 'orders'), { ...by('orders'), via_epoch: 8 }];
    for (const way of ways)
      expect(await authorize(userClaims({ sub, sid, ...way }))).toMatchObject({ ok: true });
    expect(accounts.count(INTROSPECT)).toBe(ways.length);
    accounts.ended.add('service:orders');
    expect(await authorize(userClaims({ sub, sid, ...by('orders'), via_epoch: 9 }))).toMatchObject(REFUSED);
    expect(await authorize(userClaims({ sub, sid, ...by('orders') }))).toMatchObject({ ok: true });
    expect(accounts.count(INTROSPECT)).toBe(ways.length + 1);
  });
});

describe('a service that calls for itself', () => {
  it('is admitted where it is named, and never as a user', async () => {
    const { accounts, guard, authorize, tell } = aGuard();
    const [claims, user] = [serviceClaims('orders'), userClaims(by('orders'))];
    const headers = [claims, user].map((one) => `Bearer ${signed(one)}`);
    const call = (place: number, ...from: string[]) => guard.authorizeService(headers[place], { from });
    for (let time = 0; time < 2; time += 1) {
      expect(await call(0, 'shop', 'orders')).toMatchObject({
        ok: true,
        service: { name: 'orders' },
        claims,
      });
      for (const options of [{}, { via: ['orders'] }, { orgId: randomUUID() }])
        expect(await guard.authorize(headers[0], options)).toMatchObject(NOT_ALLOWED);
      expect(await guard.authorize(headers[0])).toMatchObject(NOT_ALLOWED);
      expect(await call(0, 'shop')).toMatchObject(NOT_ALLOWED);
      expect(await call(1, 'orders')).toMatchObject(NOT_ALLOWED);
    }
    expect(accounts.count(INTROSPECT)).toBe(2);
    expect(accounts.count('/api/memberships')).toBe(0);
    expect(await guard.logOut(headers[0])).toMatchObject(NOT_ALLOWED);
    expect(await guard.logOut(headers[1])).toMatchObject(NOT_ALLOWED);
    expect(await guard.authorizeService(undefined, { from: ['orders'] })).toMatchObject({
      status: 401,
      problem: { code: 'unauthorized' },
    });

    // An epoch is one of sessions, which this token has not.
    await tell({
      type: 'session.ended',
      userId: 'service:orders',
      data: { all: true, epoch: 1, except: randomUUID() },
    } as never);
    expect(await call(0, 'orders')).toMatchObject({ ok: true });
    accounts.ended.add('service:orders');
    await tell({ type: 'service.tokens_ended', data: { service: 'orders' } } as never);
    expect(await call(0, 'orders')).toMatchObject(REFUSED);
    expect(await authorize(claims)).toMatchObject(REFUSED);
  });

  it.each<[object | undefined]>([
    [undefined],
    [{}],
    [{ from: [] }],
    [{ from: 'orders' }],
    [{ from: ['Orders'] }],
    [{ from: ['orders'], via: [] }],
  ])('is not admitted by %j', async (options) => {
    const { guard } = aGuard();
    await expect(guard.authorizeService('Bearer x', options as never)).rejects.toThrow(TypeError);
  });
});

describe('the option via', () => {
  it.each<[string[], string[] | undefined, boolean]>([
    [[], [], true],
    [['orders'], [], false],
    [['orders'], undefined, true],
    [['orders'], ['orders'], true],
    [[], ['orders'], true],
    [['shop', 'orders'], ['shop', 'orders'], true],
    [['shop', 'orders'], ['orders'], true],
    [['orders', 'shop'], ['orders'], false],
  ])('the way %j at a route via %j: %s', async (way, via, isAdmitted) => {
    const { accounts, authorize } = aGuard();
    const claims = userClaims(way.length === 0 ? {} : by(...way));
    for (let time = 0; time < 2; time += 1)
      for (const options of [{ via }, { via, orgId: randomUUID() }])
        expect(await authorize(claims, options)).toMatchObject(isAdmitted ? { ok: true } : NOT_ALLOWED);
    expect(accounts.count('/api/memberships')).toBe(isAdmitted ? 2 : 0);
  });

  it.each([['orders'], [['Orders']], [[7]], [null]])('cannot be %j', async (via) => {
    const { authorize } = aGuard();
    await expect(authorize(userClaims(), { via })).rejects.toThrow('via must be a list of names of services');
  });
});

describe('an admission', () => {
  it('shows its token to nobody, and works in tokenFor, also with a role or after an exchange', async () => {
    const { accounts, guard } = aGuard();
    const token = signed(userClaims());
    const [signature] = token.split('.').slice(-1);
    const orgId = '019a8f3e-6a2d-7f10-8b3c-5d7e9f1a2b3c';
    const first = await guard.authorize(`Bearer ${token}`);
    const known = await guard.authorize(`Bearer ${token}`);
    const user = randomUUID()
      .replace(/^(.{14})./, '$17')
      .replace(/^(.{19})./, '$18');
    const member = await guard.authorize(`Bearer ${signed(userClaims({ sub: user }))}`, { orgId });
    expect(member).toMatchObject({ role: 'admin' });
    accounts.exchanged = signed(userClaims());
    const exchanged = await guard.exchange({ code: 'c', codeVerifier: 'v' });
    expect(exchanged).toMatchObject({ token: accounts.exchanged });
    for (const one of [first, known]) {
      expect(JSON.stringify(one)).not.toContain(signature);
      expect(inspect(one, { depth: null, showHidden: true })).not.toContain(signature);
    }
    for (const one of [first, known, member, exchanged])
      expect(await guard.tokenFor('ledger', one as Admission)).toMatchObject({ ok: true });
    expect(accounts.asked.at(-1)?.form.get('subject_token')).toBe(accounts.exchanged);
  });

  it('is no copy, no service and nothing else: none of these gives a token', async () => {
    const { accounts, guard } = aGuard();
    const admission = await admitted(guard, userClaims());
    const service = await guard.authorizeService(`Bearer ${signed(serviceClaims('orders'))}`, {
      from: ['orders'],
    });
    expect(service).toMatchObject({ ok: true });
    const refusal = await guard.authorize('Bearer x');
    const copies = [
      { ...admission },
      structuredClone(admission),
      JSON.parse(JSON.stringify(admission)),
      Object.create(admission),
    ];
    for (const wrong of [undefined, null, '', 'Bearer x', 7, {}, ...copies, service, refusal])
      await expect(guard.tokenFor('ledger', wrong as Admission)).rejects.toThrow(
        new TypeError('tokenFor needs an admission of a guard, and no copy of one'),
      );
    for (const audience of [undefined, '', 'Ledger', 'a b', admission])
      for (const get of [
        () => guard.tokenFor(audience as string, admission),
        () => guard.ownTokenFor(audience as string),
      ])
        await expect(get()).rejects.toThrow(new TypeError('the audience must be the name of a service'));
    await expect(guard.ownTokenFor('ledger', { maxAge: 1 } as object)).rejects.toThrow(TypeError);
    expect(accounts.count(TOKEN)).toBe(0);
  });
});

describe('a token for a call', () => {
  async function aCaller(more: Partial<GuardOptions> = {}) {
    const kit = aGuard(more);
    await kit.guard.ready({ timeoutMs: 1 }).catch(() => undefined);
    await vi.waitFor(() => expect(kit.guard.isCurrent()).toBe(true), { timeout: hangTimeoutMs() });
    const claims = userClaims({ login_sid: randomUUID(), ...by('shop') });
    const admission = await admitted(kit.guard, claims);
    return { ...kit, claims, admission };
  }

  it('is kept for the user and apart for the service itself, and concurrent calls share one request', async () => {
    const { accounts, guard, admission } = await aCaller();
    const all = await Promise.all(Array.from({ length: 20 }, () => guard.tokenFor('ledger', admission)));
    expect(new Set(all.map((one) => one.ok && one.token))).toEqual(new Set(['token-1']));
    expect(await guard.tokenFor('ledger', admission)).toMatchObject({ token: 'token-1' });
    const own = await Promise.all(Array.from({ length: 20 }, () => guard.ownTokenFor('ledger')));
    expect(new Set(own.map((one) => one.ok && one.token))).toEqual(new Set(['token-2']));
    expect(await guard.tokenFor('audit', admission)).toMatchObject({ token: 'token-3' });
    expect(await guard.tokenFor('audit', await admitted(guard, userClaims()))).toMatchObject({
      token: 'token-4',
    });
    expect(await guard.tokenFor('ledger', admission)).toMatchObject({ token: 'token-1' });
    expect(await guard.ownTokenFor('ledger')).toMatchObject({ token: 'token-2' });
    const forms = accounts.asked
      .filter(({ path }) => path === TOKEN)
      .map(({ form }) => Object.fromEntries(form));
    expect(forms).toHaveLength(4);
    expect(forms[0]).toEqual({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      audience: 'ledger',
      subject_token: expect.any(String) as string,
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    });
    expect(forms[1]).toEqual({ grant_type: 'client_credentials', audience: 'ledger' });
  });

  it('is never another one that is on its way at the same time', async () => {
    const { accounts, guard, admission } = await aCaller();
    const other = await admitted(guard, userClaims());
    const answers = await Promise.all([
      guard.ownTokenFor('ledger'),
      guard.ownTokenFor('audit'),
      guard.tokenFor('ledger', admission),
      guard.tokenFor('audit', admission),
      guard.tokenFor('ledger', other),
    ]);
    expect(new Set(answers.map((one) => one.ok && one.token)).size).toBe(5);
    expect(accounts.count(TOKEN)).toBe(5);
  });

  it('is renewed from 30 seconds before it expires', async () => {
    const { accounts, guard } = await aCaller({ maxStaleness: 100_000 });
    const admission = await admitted(guard, userClaims({ exp: Math.floor(Date.now() / 1000) + 10_000 }));
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
    const begun = Date.now();
    const get = async (ms: number) => {
      vi.setSystemTime(begun + ms);
      const [one, own] = [await guard.tokenFor('ledger', admission), await guard.ownTokenFor('ledger')];
      expect(one).toMatchObject({ expiresAt: expect.stringMatching(/^20.*Z$/) as string });
      return [one, own].map((answer) => answer.ok && answer.token);
    };
    expect(await get(0)).toEqual(['token-1', 'token-2']);
    expect(await get(269_999)).toEqual(['token-1', 'token-2']);
    expect(await get(270_000)).toEqual(['token-3', 'token-4']);
    accounts.tokenLife = 20;
    expect(await get(540_000)).toEqual(['token-5', 'token-6']);
    expect(await get(540_000)).toEqual(['token-7', 'token-8']);
  });

  it.each<[string, (of: Claims) => Parameters<PaperAccounts['tell']>[0], own: boolean]>([
    ['the user', ({ sub }) => ({ type: 'account.email_changed', userId: sub }), false],
    [
      'a service on the way',
      () => ({ type: 'service.tokens_ended', data: { service: 'shop' } }) as never,
      false,
    ],
    [
      'a call of this service',
      () => ({ type: 'service.call_revoked', data: { service: 'billing', to: 'audit' } }) as never,
      true,
    ],
    [
      'the called service',
      () => ({ type: 'service.tokens_ended', data: { service: 'ledger' } }) as never,
      true,
    ],
  ])('is asked for again after an event names %s', async (_what, event, own) => {
    const { accounts, guard, tell, claims, admission } = await aCaller();
    const get = async () => [await guard.tokenFor('ledger', admission), await guard.ownTokenFor('ledger')];
    await get();
    await tell({ type: 'service.tokens_ended', data: { service: 'unrelated' } } as never);
    await get();
    expect(accounts.count(TOKEN)).toBe(2);
    await tell(event(claims));
    await get();
    expect(accounts.count(TOKEN)).toBe(own ? 4 : 3);
  });

  it('is refused without a question once the feed has named the session or its login', async () => {
    const { accounts, guard, tell, claims, admission } = await aCaller();
    await guard.tokenFor('ledger', admission);
    await tell({ type: 'session.ended', sessionId: claims['login_sid'] as string });
    expect(await guard.tokenFor('ledger', admission)).toMatchObject(REFUSED);
    expect(accounts.count(TOKEN)).toBe(1);
  });

  it('is not kept if the feed names a link while it is on its way', async () => {
    const { accounts, guard, tell, admission } = await aCaller();
    let asked = 0;
    accounts.onToken = async () => {
      asked += 1;
      if (asked === 1)
        await tell({ type: 'service.call_revoked', data: { service: 'billing', to: 'ledger' } } as never);
      return asked === 1
        ? { status: 200, body: { access_token: 'old', token_type: 'Bearer', expires_in: 300 } }
        : problem(400, 'invalid_target');
    };
    expect(await guard.tokenFor('ledger', admission)).toMatchObject(UNAVAILABLE);
    expect(asked).toBe(2);
  });

  const problem = (status: number, code: string) => ({
    status,
    body: { type: 'about:blank', title: 'T', status, detail: 'D', code },
  });

  it('is 401 if Accounts does not accept the token of the user', async () => {
    const { accounts, guard, admission } = await aCaller();
    accounts.onToken = () => problem(400, 'invalid_subject_token');
    expect(await guard.tokenFor('ledger', admission)).toMatchObject(REFUSED);
    expect(await guard.ownTokenFor('ledger')).toMatchObject({
      ...UNAVAILABLE,
      cause: { code: 'invalid_subject_token' },
    });
    accounts.onToken = undefined;
    expect(await guard.tokenFor('ledger', admission)).toMatchObject({ ok: true });
  });

  it('is 503 if no operator allowed the call, and the log has the command once', async () => {
    const warn = vi.fn<(line: string) => void>();
    const { accounts, guard, admission } = await aCaller({ log: { warn } });
    accounts.onToken = () => problem(400, 'invalid_target');
    for (let time = 0; time < 2; time += 1) {
      expect(await guard.tokenFor('ledger', admission)).toMatchObject(UNAVAILABLE);
      expect(await guard.ownTokenFor('ledger')).toMatchObject(UNAVAILABLE);
    }
    expect(warn.mock.calls).toEqual([
      [expect.stringContaining('accounts services call billing --to ledger --reason')],
    ]);
  });

  it('is 503 while Accounts fails, and once the feed is silent', async () => {
    const { accounts, guard, admission } = await aCaller({ log: { warn: () => undefined } });
    accounts.onToken = () => problem(503, 'unavailable');
    expect(await guard.tokenFor('audit', admission)).toMatchObject(UNAVAILABLE);
    accounts.onToken = undefined;
    expect(await guard.tokenFor('ledger', admission)).toMatchObject({ ok: true });
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 30_000 });
    accounts.onFeed = () => problem(503, 'unavailable');
    expect([await guard.tokenFor('ledger', admission), await guard.ownTokenFor('ledger')]).toMatchObject([
      UNAVAILABLE,
      UNAVAILABLE,
    ]);
  });

  it('has no guard whose service was disabled: it decides nothing as soon as the feed refuses it', async () => {
    const { accounts, guard, admission, claims, authorize } = await aCaller({
      maxStaleness: 100_000,
      log: { warn: () => undefined },
    });
    await guard.tokenFor('ledger', admission);
    accounts.onFeed = () => problem(401, 'invalid_client');
    accounts.wakeFeed();
    await vi.waitFor(() => expect(guard.isCurrent()).toBe(false), { timeout: hangTimeoutMs() });
    expect([await authorize(claims), await guard.tokenFor('ledger', admission)]).toMatchObject([
      UNAVAILABLE,
      UNAVAILABLE,
    ]);
    accounts.onFeed = undefined;
    await vi.waitFor(() => expect(guard.isCurrent()).toBe(true), { timeout: hangTimeoutMs() });
    expect(await authorize(claims)).toMatchObject({ ok: true });
  });
});
