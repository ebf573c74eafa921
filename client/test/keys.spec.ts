import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { isApiKey, newApiKey } from '../../src/api-keys/api-key-format.js';
import { hangTimeoutMs } from '../../tooling/wait.js';
import { isApiKey as isApiKeyOfGuard } from '../src/service/api-key-form.ts';
import { createGuard, type Guard, type GuardOptions } from '../src/service/index.ts';
import { fakeGuard } from '../src/testing/index.ts';
import { PaperAccounts, type PaperKey } from './support/paper-accounts.ts';
import { by, signed, userClaims } from './support/signed-tokens.ts';

const INTROSPECT = '/api/auth/introspect';
const KEYS = { keys: true } as const;
const ADMITTED = { ok: true };
const REFUSED = { ok: false, status: 401, problem: { code: 'invalid_token' } };
const NOT_ALLOWED = { ok: false, status: 403, problem: { code: 'caller_not_allowed' } };
const UNAVAILABLE = { ok: false, status: 503, problem: { code: 'unavailable' } };
const LIMITED = 'This needs the role admin or a higher one, and an API key has at most its own role.';
const HOUR_MS = 3_600_000;
type Told = { type: string; [member: string]: unknown };

const anId = (): string =>
  randomUUID()
    .replace(/^(.{14})./, '$17')
    .replace(/^(.{19})./, '$18');
const ORG = anId();

const open: Guard[] = [];
afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(open.splice(0).map((guard) => guard.close()));
});

async function aGuard(more: Partial<GuardOptions> = {}) {
  const accounts = new PaperAccounts();
  const heard = vi.fn<(event: { type: string }) => void>();
  const guard = createGuard({ ...accounts.options, onEvent: heard, ...more });
  open.push(guard);
  await vi.waitFor(() => expect(guard.isCurrent()).toBe(true), { timeout: hangTimeoutMs() });
  const tell = async (event: Told): Promise<void> => {
    const before = heard.mock.calls.length;
    accounts.tell(event as never);
    await vi.waitFor(() => expect(heard.mock.calls.length).toBeGreaterThan(before), {
      timeout: hangTimeoutMs(),
    });
  };
  const aKey = (key: Partial<PaperKey> = {}) => {
    const text = newApiKey();
    const described: PaperKey = { id: anId(), sub: anId(), role: 'member', org: null, ...key };
    accounts.keys.set(text, described);
    return { ...described, text };
  };
  const use = (text: string, options: object = KEYS) => guard.authorize(`Bearer ${text}`, options);
  return { accounts, guard, tell, aKey, use, asked: () => accounts.count(INTROSPECT) };
}

/** What a service hands on that got an API key. */
function handedOn(key: object, more: object = {}) {
  const { iss, aud, sub, iat, exp, jti } = userClaims();
  return { iss, aud, sub, iat, exp, jti, ...by('shop', 'orders'), key, ...more };
}
const aClaim = (key: object = {}) => ({ id: anId(), role: 'member', org: null, ...key });

it('the guard and Accounts agree on the form of an API key', () => {
  for (let time = 0; time < 100; time += 1) {
    const key = newApiKey();
    const place = 4 + (time % 49);
    const wrong = key.slice(0, place) + (key[place] === 'x' ? 'y' : 'x') + key.slice(place + 1);
    for (const text of [key, wrong, key.slice(1), `${key}0`, key.toUpperCase(), ''])
      expect(isApiKeyOfGuard(text), text).toBe(isApiKey(text));
    expect(isApiKeyOfGuard(key)).toBe(true);
  }
});

describe('an API key', () => {
  it('is admitted where the route says so, without a session, and nowhere else: not even a question is asked', async () => {
    const { guard, accounts, aKey, use, asked } = await aGuard();
    const { text, id, sub } = aKey({ role: 'admin' });
    const dead = newApiKey();
    for (const key of [text, dead]) {
      const header = `Bearer ${key}`;
      for (const options of [{}, { keys: false }, { keys: undefined }, { orgId: ORG }, { via: [] }])
        expect(await guard.authorize(header, options)).toMatchObject(NOT_ALLOWED);
      expect(await guard.authorize(header)).toMatchObject(NOT_ALLOWED);
      expect(await guard.authorizeService(header, { from: ['orders'] })).toMatchObject(NOT_ALLOWED);
      expect(await guard.logOut(header)).toMatchObject(NOT_ALLOWED);
    }
    expect(asked()).toBe(0);

    const admission = await use(text);
    const claims = { sub, aud: 'billing', key: { id, role: 'admin', org: null } };
    expect(admission).toMatchObject({ ok: true, key: { id, role: 'admin', orgId: null }, claims, via: [] });
    expect(admission).toMatchObject({ user: { id: sub, email: 'ada@example.com', emailVerified: true } });
    expect(admission).not.toHaveProperty('session');
    expect(await use(text, { ...KEYS, via: [] })).toMatchObject(ADMITTED);
    expect(asked()).toBe(1);
    expect(accounts.count('/.well-known/jwks.json')).toBe(0);
    expect(await guard.authorize(`Bearer ${text}`)).toMatchObject(NOT_ALLOWED);
  });

  it('gets the same answer if it has ended, and if it never was', async () => {
    const { aKey, use, accounts } = await aGuard();
    const { text } = aKey();
    accounts.keys.delete(text);
    const answers = [await use(text), await use(newApiKey())];
    const detail = 'The API key is not valid here: it has ended, or it is for another service.';
    expect(answers[0]).toMatchObject({ ...REFUSED, problem: { code: 'invalid_token', detail } });
    expect(answers[1]).toEqual(answers[0]);
  });

  it('with a wrong checksum or another form costs no question', async () => {
    const { use, asked } = await aGuard();
    const key = newApiKey();
    const digit = key.endsWith('0') ? '1' : '0';
    for (const text of [key.slice(0, -1) + digit, key.slice(0, -1), `${key}0`, `ack_${'x'.repeat(15_000)}`])
      for (const options of [KEYS, {}]) expect(await use(text, options)).toMatchObject(REFUSED);
    expect(asked()).toBe(0);
  });

  it.each<[string, object]>([
    ['maxAge', { maxAge: 1e9 }],
    ['amr', { amr: ['pwd'] }],
    ['maxAge in an organization', { maxAge: 1e9, orgId: ORG }],
  ])('is refused by %s', async (_what, options) => {
    const { aKey, use } = await aGuard();
    expect(await use(aKey().text, { ...KEYS, ...options })).toMatchObject({
      status: 401,
      problem: { code: 'insufficient_user_authentication' },
    });
  });

  it('has the lower role of both, and one of an organization acts there alone', async () => {
    const { accounts, aKey, use } = await aGuard();
    // Every user is an admin in this Accounts.
    const roles = { member: 'member', admin: 'admin', owner: 'admin' } as const;
    for (const role of ['member', 'admin', 'owner'] as const) {
      for (const org of [null, ORG]) {
        const { text } = aKey({ role, org });
        expect(await use(text, { ...KEYS, orgId: ORG })).toMatchObject({ ok: true, role: roles[role] });
        expect(await use(text, { ...KEYS, orgId: ORG, role: 'admin' })).toMatchObject(
          role === 'member'
            ? { status: 403, problem: { code: 'insufficient_role', detail: LIMITED } }
            : ADMITTED,
        );
        expect(await use(text, { ...KEYS, orgId: ORG, role: 'owner' })).toMatchObject({ status: 403 });
      }
    }
    const { text } = aKey({ org: ORG });
    const memberships = accounts.count('/api/memberships');
    expect(await use(text)).toMatchObject(NOT_ALLOWED);
    expect(await use(text, { ...KEYS, orgId: anId() })).toMatchObject({
      status: 403,
      problem: { code: 'not_a_member' },
    });
    expect(accounts.count('/api/memberships')).toBe(memberships);
  });

  it('shows its text to nobody, and works in tokenFor', async () => {
    const warn = vi.fn<(line: string) => void>();
    const { accounts, guard, aKey, use, tell } = await aGuard({ log: { warn } });
    const { text, id } = aKey();
    const admission = await use(text);
    if (!admission.ok) throw new Error(admission.problem.code);
    expect(JSON.stringify(admission)).not.toContain(text);
    expect(inspect([admission, guard], { depth: null, showHidden: true })).not.toContain(text);
    const ask = () => guard.tokenFor('ledger', admission);
    const answers = await Promise.all([ask(), ask(), ask()]);
    expect(new Set(answers.map((one) => one.ok && one.token))).toEqual(new Set(['token-1']));
    expect(accounts.asked.at(-1)?.form.get('subject_token')).toBe(text);
    accounts.onToken = () => ({ status: 400, body: { ...PROBLEM, code: 'invalid_target' } });
    expect(await guard.tokenFor('audit', admission)).toMatchObject(UNAVAILABLE);
    expect(warn.mock.calls.join()).toContain('needs the scope keys');
    expect(warn.mock.calls.join()).not.toContain(text);
    await tell({ type: 'key.revoked', data: { keyId: id, reason: 'reported' } });
    expect(await ask()).toMatchObject(REFUSED);
  });

  const PROBLEM = { type: 'about:blank', title: 'T', status: 400, detail: 'D' };

  it('is refused from the moment it expires', async () => {
    const { aKey, use, asked } = await aGuard({ maxStaleness: 1e9 });
    const exp = Math.floor(Date.now() / 1000) + 1_000;
    const { text } = aKey({ exp });
    vi.useFakeTimers({ toFake: ['Date'], now: exp * 1000 - 1 });
    expect(await use(text)).toMatchObject(ADMITTED);
    vi.setSystemTime(exp * 1000);
    expect([await use(text), await use(text)]).toMatchObject([REFUSED, REFUSED]);
    expect(asked()).toBe(1);
  });

  it.each<[string, (key: PaperKey) => Told, refusedWithout: number]>([
    ['the key', ({ id }) => ({ type: 'key.revoked', data: { keyId: id, reason: 'revoked' } }), 0],
    ['the user', ({ sub }) => ({ type: 'account.disabled', userId: sub }), 1],
    [
      'all sessions of the user',
      ({ sub }) => ({ type: 'session.ended', userId: sub, data: { all: true, epoch: 3 } }),
      1,
    ],
    ['the scopes of the service', () => ({ type: 'service.allowed', data: {} }), 1],
    ['the service', () => ({ type: 'service.disabled', data: {} }), 1],
    ['the return of the service', () => ({ type: 'service.enabled', data: {} }), 1],
  ])('is asked about again after an event names %s', async (_what, event, questions) => {
    const { accounts, aKey, use, tell, asked } = await aGuard();
    const [key, other] = [aKey(), aKey()];
    expect([await use(key.text), await use(other.text)]).toMatchObject([ADMITTED, ADMITTED]);
    accounts.keys.delete(key.text);
    expect(await use(key.text)).toMatchObject(ADMITTED);
    await tell({ type: 'account.disabled', userId: anId() });
    await tell({ type: 'key.revoked', data: { keyId: anId(), reason: 'revoked' } });
    expect(await use(key.text)).toMatchObject(ADMITTED);
    expect(asked()).toBe(2);
    await tell(event(key));
    expect([await use(key.text), await use(key.text)]).toMatchObject([REFUSED, REFUSED]);
    expect(asked()).toBe(2 + questions);
    expect(await use(other.text)).toMatchObject(ADMITTED);
  });

  it('that is revoked while the guard asks about it for the first time is refused', async () => {
    const { accounts, aKey, use, tell, asked } = await aGuard();
    for (const [place, event] of ['key.revoked', 'account.disabled'].entries()) {
      const { text, id, sub } = aKey();
      let isHeld = true;
      accounts.onIntrospect = async () => {
        if (!isHeld) return;
        isHeld = false;
        accounts.keys.delete(text);
        await tell({ type: event, userId: sub, data: { keyId: id } });
      };
      expect(await use(text)).toMatchObject(REFUSED);
      expect(asked()).toBe(2 * (place + 1));
    }
  });

  it('is asked about once an hour, in the background, and refused from the answer on', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const { accounts, aKey, use, asked } = await aGuard({ maxStaleness: 1e9 });
    const { text } = aKey();
    await use(text);
    vi.advanceTimersByTime(HOUR_MS - 1);
    expect(await use(text)).toMatchObject(ADMITTED);
    expect(asked()).toBe(1);
    vi.advanceTimersByTime(1);
    const both = await Promise.all([use(text), use(text)]);
    expect(both).toMatchObject([ADMITTED, ADMITTED]);
    expect(asked()).toBe(2);
    await new Promise((turn) => setImmediate(turn));
    vi.advanceTimersByTime(HOUR_MS);
    accounts.keys.delete(text);
    expect(await use(text)).toMatchObject(ADMITTED);
    await vi.waitFor(async () => expect(await use(text)).toMatchObject(REFUSED), {
      timeout: hangTimeoutMs(),
    });
    expect(asked()).toBe(3);
  });

  it('that Accounts refused is remembered for 10 seconds, or until the scopes of the service change', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const { accounts, aKey, use, tell, asked } = await aGuard({ maxStaleness: 1e9 });
    const { text, ...key } = aKey();
    accounts.keys.delete(text);
    expect([await use(text), await use(text)]).toMatchObject([REFUSED, REFUSED]);
    expect(asked()).toBe(1);
    accounts.keys.set(text, key);
    vi.advanceTimersByTime(9_999);
    expect(await use(text)).toMatchObject(REFUSED);
    vi.advanceTimersByTime(1);
    expect(await use(text)).toMatchObject(ADMITTED);
    expect(asked()).toBe(2);

    const other = aKey();
    accounts.keys.delete(other.text);
    expect(await use(other.text)).toMatchObject(REFUSED);
    accounts.keys.set(other.text, other);
    await tell({ type: 'service.allowed', data: {} });
    expect(await use(other.text)).toMatchObject(ADMITTED);
  });

  it('that is unknown waits for one of 8 places, 64 wait, and neither tokens nor known keys do', async () => {
    const { accounts, guard, aKey, use, tell, asked } = await aGuard({ log: { warn: () => undefined } });
    const known = aKey();
    await use(known.text);
    let release: () => void = () => undefined;
    const released = new Promise<void>((done) => (release = done));
    const isWrong = (text: string): boolean => text.startsWith('ack_') && !accounts.keys.has(text);
    accounts.onIntrospect = (text) => (isWrong(text) ? released : undefined);
    const before = asked();
    const wrong = Array.from({ length: 8 + 64 }, () => use(newApiKey()));
    await vi.waitFor(() => expect(asked()).toBe(before + 8), { timeout: hangTimeoutMs() });
    expect(await use(newApiKey())).toMatchObject(UNAVAILABLE);

    await tell({ type: 'account.email_changed', userId: known.sub });
    expect(await use(known.text)).toMatchObject(ADMITTED);
    expect(await guard.authorize(`Bearer ${signed(userClaims())}`)).toMatchObject(ADMITTED);
    expect(await use(signed(handedOn(aClaim())))).toMatchObject(ADMITTED);
    expect(asked()).toBe(before + 8 + 3);
    release();
    expect(await Promise.all(wrong)).toMatchObject(wrong.map(() => REFUSED));
    expect(asked()).toBe(before + 8 + 64 + 3);
  });

  it('is 503 while the feed is silent', async () => {
    const { accounts, aKey, use } = await aGuard({ log: { warn: () => undefined } });
    const { text } = aKey();
    await use(text);
    accounts.onFeed = () => ({ status: 503, body: { ...PROBLEM, status: 503, code: 'unavailable' } });
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 30_000 });
    expect([await use(text), await use(newApiKey())]).toMatchObject([UNAVAILABLE, UNAVAILABLE]);
  });
});

describe('a token that was handed on from an API key', () => {
  it('is admitted where keys are, and nowhere else', async () => {
    const { guard, use, asked } = await aGuard();
    const key = aClaim({ role: 'owner', org: ORG });
    const token = signed(handedOn(key));
    for (const options of [{}, { orgId: ORG }]) expect(await use(token, options)).toMatchObject(NOT_ALLOWED);
    expect(await guard.authorize(`Bearer ${token}`)).toMatchObject(NOT_ALLOWED);
    expect(await guard.logOut(`Bearer ${token}`)).toMatchObject(NOT_ALLOWED);
    expect(await guard.authorizeService(`Bearer ${token}`, { from: ['orders'] })).toMatchObject(NOT_ALLOWED);
    expect(asked()).toBe(0);
    const inOrg = { ...KEYS, orgId: ORG };
    for (let time = 0; time < 2; time += 1) {
      expect(await use(token, inOrg)).toMatchObject({
        key: { id: key.id, role: 'owner', orgId: ORG },
        role: 'admin',
        via: ['shop', 'orders'],
        user: { email: 'ada@example.com' },
      });
      expect(await use(token)).toMatchObject(NOT_ALLOWED);
      expect(await use(token, {})).toMatchObject(NOT_ALLOWED);
      expect(await guard.authorize(`Bearer ${token}`)).toMatchObject(NOT_ALLOWED);
      expect(await use(token, { ...inOrg, via: [] })).toMatchObject(NOT_ALLOWED);
      expect(await use(token, { ...inOrg, via: ['orders'] })).toMatchObject(ADMITTED);
    }
    expect(asked()).toBe(1);
  });

  it.each<[string, object]>([
    ['a session', { sid: randomUUID() }],
    ['the time of a login', { auth_time: 0 }],
    ['no way', { act: undefined, client_id: 'billing', via_epoch: undefined }],
    ['no state of the way', { via_epoch: undefined }],
    ['another role', { key: aClaim({ role: 'root' }) }],
    ['no id', { key: aClaim({ id: 7 }) }],
    ['no organization', { key: aClaim({ org: undefined }) }],
    ['a text for the key', { key: 'ack_' }],
    ['null for the key', { key: null }],
  ])('with %s is refused without a question', async (_what, more) => {
    const { use, asked } = await aGuard();
    expect(await use(signed(handedOn(aClaim(), more)))).toMatchObject(REFUSED);
    expect(asked()).toBe(0);
  });

  it.each<[string, (of: { key: { id: string }; sub: string }) => Told]>([
    ['key', ({ key }) => ({ type: 'key.revoked', data: { keyId: key.id, reason: 'operator' } })],
    ['user', ({ sub }) => ({ type: 'account.disabled', userId: sub })],
    ['first service', () => ({ type: 'service.tokens_ended', data: { service: 'shop' } })],
    ['call', () => ({ type: 'service.call_revoked', data: { service: 'orders', to: 'billing' } })],
    ['own service', () => ({ type: 'service.allowed', data: {} })],
  ])('ends with its %s', async (_what, event) => {
    const { accounts, use, tell } = await aGuard();
    const claims = handedOn(aClaim()) as never as { key: { id: string }; sub: string };
    const token = signed(claims);
    expect(await use(token)).toMatchObject(ADMITTED);
    accounts.ended.add(claims.key.id);
    expect(await use(token)).toMatchObject(ADMITTED);
    await tell(event(claims));
    expect(await use(token)).toMatchObject(REFUSED);
  });

  it('that Accounts refused is remembered for 10 seconds', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const { accounts, use, asked } = await aGuard({ maxStaleness: 1e9 });
    const claims = handedOn(aClaim());
    const token = signed(claims);
    accounts.ended.add((claims.key as { id: string }).id);
    expect([await use(token), await use(token)]).toMatchObject([REFUSED, REFUSED]);
    expect(asked()).toBe(1);
    accounts.ended.clear();
    vi.advanceTimersByTime(9_999);
    expect(await use(token)).toMatchObject(REFUSED);
    vi.advanceTimersByTime(1);
    expect(await use(token)).toMatchObject(ADMITTED);
  });
});

it.each([['yes'], [1], [null]])('the option keys cannot be %j', async (keys) => {
  const { use } = await aGuard();
  await expect(use(newApiKey(), { keys })).rejects.toThrow(new TypeError('keys must be true or false'));
});

describe('the key of a fake guard', () => {
  it('is admitted and refused as by the real guard', async () => {
    const guard = fakeGuard();
    const ada = guard.logIn();
    guard.setRole(ada.userId, ORG, 'admin');
    const own = guard.makeKey({ user: { id: ada.userId }, role: 'owner' });
    const ofOrg = guard.makeKey({ user: { id: ada.userId }, orgId: ORG });
    const passed = guard.makeKey({ user: { id: ada.userId, via: ['orders'] } });
    const inOrg = { ...KEYS, orgId: ORG };
    expect(isApiKey(own.token)).toBe(true);
    for (const { authorization } of [own, ofOrg, passed, { authorization: `Bearer ${newApiKey()}` }]) {
      expect(await guard.authorize(authorization)).toMatchObject(NOT_ALLOWED);
      expect(await guard.authorize(authorization, { orgId: ORG })).toMatchObject(NOT_ALLOWED);
      expect(await guard.logOut(authorization)).toMatchObject(NOT_ALLOWED);
      expect(await guard.authorizeService(authorization, { from: ['orders'] })).toMatchObject(NOT_ALLOWED);
    }
    const key = { id: own.keyId, role: 'owner', orgId: null };
    expect(await guard.authorize(own.authorization, KEYS)).toMatchObject({ key, user: { id: ada.userId } });
    expect(await guard.authorize(own.authorization, inOrg)).toMatchObject({ key, role: 'admin' });
    expect(await guard.authorize(ofOrg.authorization, KEYS)).toMatchObject(NOT_ALLOWED);
    expect(await guard.authorize(ofOrg.authorization, inOrg)).toMatchObject({ role: 'member' });
    expect(await guard.authorize(ofOrg.authorization, { ...KEYS, orgId: anId() })).toMatchObject({
      problem: { code: 'not_a_member' },
    });
    expect(await guard.authorize(passed.authorization, { ...KEYS, via: [] })).toMatchObject(NOT_ALLOWED);
    const admission = await guard.authorize(passed.authorization, { ...KEYS, via: ['orders'] });
    if (!admission.ok) throw new Error(admission.problem.code);
    expect(await guard.tokenFor('ledger', admission)).toMatchObject(ADMITTED);
    expect(await guard.authorize(own.authorization, { ...inOrg, maxAge: 60 })).toMatchObject({ status: 401 });
    expect(await guard.authorize(`Bearer ${newApiKey()}`, KEYS)).toMatchObject(REFUSED);
    expect(await guard.authorize(guard.logIn().authorization, KEYS)).toMatchObject({ session: {} });
    guard.setRole(ada.userId, ORG);
    expect(await guard.authorize(own.authorization, inOrg)).toMatchObject({
      problem: { code: 'not_a_member' },
    });
  });
});
