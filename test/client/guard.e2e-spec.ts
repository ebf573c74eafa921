import { execFileSync } from 'node:child_process';
import { join as pathOf } from 'node:path';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import {
  createPkce,
  createGuard,
  type FeedEvent,
  type Guard,
  type GuardOptions,
} from '../../client/src/service/index.ts';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { accountsJson, BY_ROOT } from '../support/accounts-command.js';
import { times } from '../support/at-once.js';
import { anInstallation } from '../support/installation.js';
import {
  type Account,
  anAccount,
  anOrg,
  anOrgOf,
  anUnknownId,
  join,
  type Session,
} from '../support/personas.js';
import { enrol, protect } from '../support/second-factor.js';
import { startOwnService } from '../support/service.js';
import { aBoundToken, aServiceCaller, type ServiceCaller } from '../support/services.js';
import { aSigningKey, decodeToken, signToken } from '../support/signing-keys.js';
import { Door } from './support/door.js';

const ISSUER = 'accounts';

const MEMBERSHIPS = '/api/memberships';
const withoutLimits = { RATE_LIMIT_REGISTER: 'off', RATE_LIMIT_LOGIN: 'off', RATE_LIMIT_LOOKUP: 'off' };

const installation = await anInstallation();
let service = await startOwnService({ installation, env: withoutLimits });
const door = await Door.open(service.url);
const billing = await aServiceCaller(service, 'introspect', 'memberships', 'events');
const open: Guard[] = [];
afterEach(async () => {
  door.release(MEMBERSHIPS);
  await Promise.all(open.splice(0).map((guard) => guard.close()));
  door.isShut = false;
  door.asked.length = 0;
});
afterAll(async () => {
  await door.close();
  await service.stop();
  await installation.remove();
});

function aGuard(more: Partial<GuardOptions> = {}): Guard {
  const { name, secret } = billing;
  const guard = createGuard({
    issuer: ISSUER,
    audience: [ISSUER, name],
    baseUrl: door.url,
    credentials: { name, secret },
    ...more,
  });
  open.push(guard);
  return guard;
}

async function aCodeFor({ name }: ServiceCaller, user: Account) {
  const { codeVerifier, challenge } = await createPkce();
  const issued = await user.post<{ code: string }>('/api/auth/code', { audience: name, ...challenge });
  return { code: issued.body.code, codeVerifier };
}

const bearer = (token: string): string => `Bearer ${token}`;
const admit = (guard: Guard, { token }: Pick<Account, 'token'>) => guard.authorize(bearer(token));

async function anAdmission(more: Partial<GuardOptions> = {}) {
  const [ada, guard] = [await anAccount(service), aGuard(more)];
  expect(await admit(guard, ada)).toMatchObject({ ok: true });
  return { ada, guard };
}

/** Nobody asks about a token twice, so the refusal comes from the feed. */
async function untilRefused(guard: Guard, token: string): Promise<void> {
  await waitFor('the token is refused', hangTimeoutMs(), async () => {
    const answer = await guard.authorize(bearer(token));
    return !answer.ok && answer.status === 401;
  });
}

async function anotherLogin({ email, password }: Account): Promise<string> {
  const { body } = await service.anyone.post<Session>('/api/auth/login', { email, password });
  return body.token;
}

const changePassword = (by: Account) =>
  by.put('/api/me/password', { currentPassword: by.password, newPassword: 'a new horse battery' });

describe('a token', () => {
  it('is admitted, with one question about its session', async () => {
    const ada = await anAccount(service);
    const guard = aGuard();
    const user = { id: ada.id, email: ada.email, emailVerified: false };
    expect(await admit(guard, ada)).toMatchObject({ ok: true, user, session: { amr: ['pwd'] } });
    await Promise.all(times(20, () => admit(guard, ada)));
    expect(door.count('/api/auth/introspect')).toBe(1);
    expect(door.count('/.well-known/jwks.json')).toBe(1);
  });

  it('is refused with what to answer', async () => {
    const guard = aGuard();
    const headers = { 'WWW-Authenticate': 'Bearer' };
    const missing = { ok: false, status: 401, headers, problem: { code: 'unauthorized' } };
    for (const header of [undefined, null, '', 'Bearer', 'Basic Zm9v', 'Bearer a b']) {
      expect(await guard.authorize(header)).toMatchObject(missing);
    }
  });

  it.each<[string, (account: Account) => string]>([
    ['as text', () => 'text'],
    ['that has expired', (account) => signed(account, { exp: Math.floor(Date.now() / 1000) - 60 })],
    ['for another service', (account) => signed(account, { aud: 'shop' })],
    ['of another issuer', (account) => signed(account, { iss: 'others' })],
    ['without a session', (account) => signed(account, { sid: undefined })],
    ['without an end', (account) => signed(account, { exp: undefined })],
    ['of a session that is not there', (account) => signed(account, { sid: account.id })],
    ['of another type', (account) => signed(account, {}, { typ: 'JWT' })],
    ['of an unknown key', (account) => signed(account, {}, { kid: 'unknown' })],
    ['without the name of a key', (account) => signed(account, {}, { kid: undefined })],
    ['by another key', (account) => signed(account, {}, {}, aSigningKey())],
    ['with alg none', (account) => signed(account, {}, { alg: 'none' }).replace(/[^.]+$/, '')],
  ])('%s is refused, both times', async (_what, tokenOf) => {
    const token = tokenOf(await anAccount(service));
    const guard = aGuard();
    const refused = { ok: false, status: 401, problem: { code: 'invalid_token' } };
    expect(await guard.authorize(bearer(token))).toMatchObject(refused);
    expect(await guard.authorize(bearer(token))).toMatchObject(refused);
  });

  function signed({ token }: Account, claims: object, header: object = {}, key = installation.keys[0]!) {
    const decoded = decodeToken(token);
    return signToken({ ...decoded.header, ...header }, { ...decoded.claims, ...claims }, key);
  }

  it('with the live session of another user is refused, although that session is known', async () => {
    const [ada, grace] = await Promise.all([anAccount(service), anAccount(service)]);
    const guard = aGuard();
    expect(await admit(guard, ada)).toMatchObject({ ok: true });
    const forged = signed(ada, { sub: grace.id });
    expect(await guard.authorize(bearer(forged))).toMatchObject({ status: 401 });
    expect(await admit(guard, ada)).toMatchObject({ ok: true });
  });

  it('for this service alone is admitted, and one of its audience is not where only that counts', async () => {
    const ada = await anAccount(service);
    const bound = await aBoundToken(billing, ada);
    const guard = aGuard({ audience: [billing.name] });
    expect(await guard.authorize(bearer(bound))).toMatchObject({ ok: true, user: { id: ada.id } });
    expect(await admit(guard, ada)).toMatchObject({ status: 401 });
  });

  it.each<[string, object]>([
    ['an unknown option', { orgID: 'x' }],
    ['an unknown role', { orgId: 'x', role: 'Owner' }],
    ['a role of no organization', { role: 'owner' }],
    ['an organization that is missing', { orgId: undefined }],
  ])('is not admitted by %s, whoever sends it', async (_what, options) => {
    const ada = await anAccount(service);
    const guard = aGuard();
    const asked = guard.authorize(bearer(ada.token), options);
    await expect(asked).rejects.toThrow(TypeError);
    await expect(guard.authorize(undefined, options)).rejects.toThrow(TypeError);
  });

  it('comes from a code that only this service exchanges, with its own guard', async () => {
    const ada = await anAccount(service);
    const guard = aGuard();
    const { code, codeVerifier } = await aCodeFor(billing, ada);
    expect(await guard.exchange({ code, codeVerifier: 'w'.repeat(43) })).toMatchObject({ status: 400 });
    const login = await guard.exchange({ code, codeVerifier });
    expect(login).toMatchObject({ ok: true, user: { id: ada.id } });
    if (login.ok) installation.secrets.noteToken(login.token);
  });

  it('comes again from a code that is exchanged again with its key', async () => {
    const guard = aGuard();
    const input = await aCodeFor(billing, await anAccount(service));
    const wrong = await guard.exchange(input, { idempotencyKey: 'too short' });
    expect(wrong).toMatchObject({ status: 503, cause: { code: 'validation_failed' } });
    const options = { idempotencyKey: crypto.randomUUID() };
    const logins = [await guard.exchange(input, options), await aGuard().exchange(input, options)];
    const [first, second] = logins.map((login) => (login.ok ? login : undefined));
    expect(second).toMatchObject({ session: { id: first!.session.id } });
    for (const login of [first!, second!]) {
      installation.secrets.noteToken(login.token);
      expect(await guard.authorize(bearer(login.token))).toMatchObject({ ok: true });
    }
    expect(await guard.exchange(input)).toMatchObject({ status: 400 });
    await untilRefused(guard, first!.token);
  });

  it('cannot be told where a service may not follow the feed, and its code stays good', async () => {
    const deaf = await aServiceCaller(service, 'introspect', 'memberships');
    const { code, codeVerifier } = await aCodeFor(deaf, await anAccount(service));
    const { name, secret } = deaf;
    const warn = vi.fn<(message: string) => void>();
    const guard = aGuard({ audience: [name], credentials: { name, secret }, log: { warn } });

    const refused = { status: 503, cause: { code: 'insufficient_scope' } };
    expect(await guard.exchange({ code, codeVerifier })).toMatchObject(refused);
    expect(warn.mock.calls).toEqual([[expect.stringContaining(`"${name}" lacks the scope "events"`)]]);
    expect((await deaf.post('/api/auth/code/exchange', { code, codeVerifier })).status).toBe(200);
  });

  it.each<[string, Partial<GuardOptions>, string]>([
    [
      'issuer',
      { issuer: 'http://localhost/' },
      'is issued by "accounts", and the guard expects "http://localhost/"',
    ],
    ['audience', { audience: 'shop' }, 'is for "accounts", and the guard expects "shop": compare its option'],
    [
      'audience, which its client should not have sent,',
      { audience: billing.name },
      `a client sent a token for "accounts", and not one for "${billing.name}": it has to hand off its login`,
    ],
  ])('of another %s is refused with a cause, which the log has once', async (_claim, wrong, message) => {
    const ada = await anAccount(service);
    const warn = vi.fn<(message: string) => void>();
    const guard = aGuard({ ...wrong, log: { warn } });

    for (let time = 0; time < 2; time += 1) {
      const refused = await admit(guard, ada);
      expect(refused).toMatchObject({ status: 401, problem: { code: 'invalid_token' } });
      expect(refused).toHaveProperty('cause.message', expect.stringContaining(message));
      expect(JSON.stringify(refused)).not.toContain(message);
    }
    expect(warn.mock.calls).toEqual([[expect.stringContaining(message)]]);
  });

  it('of a good code that does not verify is the fault of the service, not of its user', async () => {
    const { code, codeVerifier } = await aCodeFor(billing, await anAccount(service));
    const guard = aGuard({ issuer: door.url });
    const login = await guard.exchange({ code, codeVerifier });
    expect(login).toMatchObject({ status: 503, problem: { code: 'unavailable' } });
    expect(login).toHaveProperty('cause.message', expect.stringContaining('issuer'));
  });
});

describe('a logout by the guard', () => {
  const EVENTS = '/api/events';
  afterEach(() => door.release(EVENTS));

  async function aLogin() {
    const ada = await anAccount(service);
    const [token, other] = [await aBoundToken(billing, ada), await aBoundToken(billing, ada)];
    const guard = aGuard();
    for (const one of [token, other]) expect(await admit(guard, { token: one })).toMatchObject({ ok: true });
    return { ada, token, other, guard };
  }

  it('ends the session of the token at once, before the feed tells, and no other', async () => {
    const { ada, token, other, guard } = await aLogin();
    door.hold(EVENTS);
    await waitFor('the feed is held', hangTimeoutMs(), () => door.holds(EVENTS) > 0);

    const ended = await Promise.all(times(50, () => guard.logOut(bearer(token))));
    expect(ended).toEqual(times(50, () => ({ ok: true })));
    const refused = { status: 401, problem: { code: 'invalid_token' } };
    expect(await admit(guard, { token })).toMatchObject(refused);
    expect(await guard.logOut(bearer(token))).toMatchObject(refused);
    expect(door.count('/api/auth/logout')).toBe(1);
    const another = aGuard();
    for (let time = 0; time < 3; time += 1)
      expect(await another.logOut(bearer(token))).toMatchObject(refused);
    expect(door.count('/api/auth/logout')).toBe(2);
    for (const live of [other, ada.token])
      expect(await admit(guard, { token: live })).toMatchObject({ ok: true });
  });

  it('refuses the token of a request whose question was on its way', async () => {
    const ada = await anAccount(service);
    const [token, guard] = [await aBoundToken(billing, ada), aGuard()];
    await waitFor('the feed is heard', hangTimeoutMs(), () => guard.isCurrent());
    door.hold('/api/auth/introspect');
    const asked = admit(guard, { token });
    await waitFor('Accounts has answered', hangTimeoutMs(), () => door.holds('/api/auth/introspect') === 1);
    door.hold(EVENTS);
    await waitFor('the feed is held', hangTimeoutMs(), () => door.holds(EVENTS) > 0);
    expect(await guard.logOut(bearer(token))).toEqual({ ok: true });
    door.release('/api/auth/introspect');
    expect(await asked).toMatchObject({ status: 401 });
  });

  it('refuses what is no token of this service, and asks nothing', async () => {
    const guard = aGuard({ audience: billing.name });
    const foreign = await anAccount(service);
    expect(await guard.logOut(undefined)).toMatchObject({ status: 401, problem: { code: 'unauthorized' } });
    for (const token of ['text', foreign.token])
      expect(await guard.logOut(bearer(token))).toMatchObject({
        status: 401,
        problem: { code: 'invalid_token' },
      });
    expect(door.count('/api/auth/logout')).toBe(0);
    expect((await foreign.get('/api/me')).status).toBe(200);
  });

  it('says that the session may live on if Accounts cannot be asked, and ends it later', async () => {
    const { token, guard } = await aLogin();
    door.shut();
    expect(await guard.logOut(bearer(token))).toMatchObject({
      status: 503,
      problem: { code: 'unavailable' },
    });
    door.isShut = false;
    expect(await guard.logOut(bearer(token))).toEqual({ ok: true });
  });

  it('does not end the session whose token Accounts alone refuses', async () => {
    const { token, guard } = await aLogin();
    const { header, claims } = decodeToken(token);
    const others = { ...claims, sub: (await anAccount(service)).id };
    const forged = signToken(header, others, installation.keys[0]!);
    expect(await guard.logOut(bearer(forged))).toMatchObject({ status: 401 });
    expect(await admit(guard, { token })).toMatchObject({ ok: true });
  });
});

describe('a decision that takes longer than timeoutMs', () => {
  const INTROSPECT = '/api/auth/introspect';
  const EVENTS = '/api/events';
  const LATE = { status: 503, cause: 'Accounts did not respond within 200 ms' };
  afterEach(() => [INTROSPECT, EVENTS].forEach((path) => door.release(path)));

  it('is 503, until Accounts answers', async () => {
    const ada = await anAccount(service);
    door.hold(INTROSPECT);
    const guard = aGuard({ timeoutMs: 200 });
    await waitFor('the feed is heard', hangTimeoutMs(), () => guard.isCurrent());
    expect(await admit(guard, ada)).toMatchObject(LATE);
    await waitFor('Accounts has answered', hangTimeoutMs(), () => door.holds(INTROSPECT) === 1);
    door.release(INTROSPECT);
    await waitFor('the answer is known', hangTimeoutMs(), async () => (await admit(guard, ada)).ok);
  });

  it('leaves a code unused', async () => {
    const input = await aCodeFor(billing, await anAccount(service));
    door.hold(EVENTS);
    const guard = aGuard({ timeoutMs: 200 });
    expect(await guard.exchange(input)).toMatchObject(LATE);
    door.release(EVENTS);
    await waitFor('the feed is heard', hangTimeoutMs(), () => guard.isCurrent());
    const login = await aGuard().exchange(input);
    expect(login).toMatchObject({ ok: true });
    expect(door.count('/api/auth/code/exchange')).toBe(1);
    if (login.ok) installation.secrets.noteToken(login.token);
  });
});

describe('the feed', () => {
  it.each<[string, (account: Account) => Promise<unknown>]>([
    ['logs out', (account) => account.post('/api/auth/logout', {})],
    [
      'changes the password elsewhere',
      async (account) => changePassword(account.as(await anotherLogin(account))),
    ],
    ['is disabled', ({ email }) => accountsJson(installation, ['users', 'disable', email])],
    ['deletes the account', (account) => account.delete('/api/me', { password: account.password })],
  ])('tells that a user %s', async (_what, end) => {
    const { ada, guard } = await anAdmission();
    await end(ada);
    await untilRefused(guard, ada.token);
    // A guard that starts now has not heard of it.
    expect(await admit(aGuard(), ada)).toMatchObject({ status: 401 });
  });

  it('tells of a code of a login that ended', async () => {
    const ada = await anAccount(service);
    const bound = await aBoundToken(billing, ada);
    const guard = aGuard();
    expect(await guard.authorize(bearer(bound))).toMatchObject({ ok: true });
    await ada.post('/api/auth/logout', {});
    await untilRefused(guard, bound);
  });

  it('keeps the session in which the password was changed', async () => {
    const ada = await anAccount(service);
    const guard = aGuard();
    const other = await anotherLogin(ada);
    expect(await guard.authorize(bearer(other))).toMatchObject({ ok: true });
    expect(await admit(guard, ada)).toMatchObject({ ok: true });
    await changePassword(ada);
    await untilRefused(guard, other);
    expect(await admit(guard, ada)).toMatchObject({ ok: true });
  });

  it('is silent: nothing can be told, until it is heard again', async () => {
    const [ada, grace] = await Promise.all([anAccount(service), anAccount(service)]);
    const guard = aGuard({ maxStaleness: 4 });
    expect(await admit(guard, ada)).toMatchObject({ ok: true });
    expect(await admit(guard, grace)).toMatchObject({ ok: true });

    door.shut();
    await grace.post('/api/auth/logout', {});
    await waitFor('nothing can be told', hangTimeoutMs(), () => !guard.isCurrent());
    const silent = {
      ok: false,
      status: 503,
      headers: { 'Retry-After': '1' },
      problem: { code: 'unavailable' },
    };
    expect(await admit(guard, ada)).toMatchObject(silent);
    expect(await guard.authorize(bearer('text'))).toMatchObject({ status: 401 });
    door.isShut = false;
    await waitFor('it is heard again', hangTimeoutMs(), () => guard.isCurrent());

    expect(await admit(guard, ada)).toMatchObject({ ok: true });
    expect(await admit(guard, grace)).toMatchObject({ status: 401 });
  });

  it('refuses its cursor: everything is read again, and the service hears that its copy is void', async () => {
    const onReset = vi.fn<() => void>();
    const { ada, guard } = await anAdmission({ onReset });
    expect(onReset).toHaveBeenCalledTimes(1);

    await installation.db.query('UPDATE events SET pending = NULL');
    await installation.db.query('DELETE FROM feed');

    await waitFor('the session is asked about again', hangTimeoutMs(), async () => {
      await anAccount(service);
      await admit(guard, ada);
      return door.count('/api/auth/introspect') > 1;
    });
    expect(await admit(guard, ada)).toMatchObject({ ok: true });
    expect(onReset).toHaveBeenCalledTimes(2);
  });

  it('refuses its cursor: roles and revisions that are newer than the restored ones decide nothing', async () => {
    const { org, owner, member } = await anOrg(service);
    const onReset = vi.fn<() => void>();
    const guard = aGuard({ onReset });
    const ask = (atLeast?: number) =>
      guard.authorize(bearer(member.token), { orgId: org.id, ...(atLeast !== undefined && { atLeast }) });
    const setRole = (role: string) => owner.patch(`/api/orgs/${org.id}/members/${member.id}`, { role });
    expect(await ask()).toMatchObject({ role: 'member' });
    await setRole('admin');
    await waitFor('the new role', hangTimeoutMs(), async () => {
      const answer = await ask();
      return answer.ok && answer.role === 'admin';
    });

    const { db } = installation;
    await db.query('UPDATE orgs SET revision = 1 WHERE id = ?', [org.id]);
    await db.query("UPDATE members SET role = 'member' WHERE org_id = ? AND user_id = ?", [
      org.id,
      member.id,
    ]);
    await db.query('UPDATE events SET pending = NULL');
    await db.query('DELETE FROM feed');
    await waitFor('the guard starts over', hangTimeoutMs(), async () => {
      await anAccount(service);
      return onReset.mock.calls.length === 2;
    });
    expect(await ask()).toMatchObject({ role: 'member' });

    door.hold('/api/events');
    await waitFor('the feed is held', hangTimeoutMs(), () => door.holds('/api/events') > 0);
    await setRole('admin');
    const decided = await ask(2);
    door.release('/api/events');
    expect(decided).toMatchObject({ role: 'admin' });
  });
});

describe('a member', () => {
  it('has the role that the feed tells, with one question', async () => {
    const { org, owner, member } = await anOrg(service);
    const guard = aGuard();
    const asked = (role?: 'admin') =>
      guard.authorize(bearer(member.token), { orgId: org.id, ...(role && { role }) });
    expect(await asked()).toMatchObject({ ok: true, role: 'member' });
    const lacking = { status: 403, problem: { code: 'insufficient_role', requiredRole: 'admin' } };
    expect(await asked('admin')).toMatchObject(lacking);

    await owner.patch(`/api/orgs/${org.id}/members/${member.id}`, { role: 'admin' });
    await waitFor('the new role', hangTimeoutMs(), async () => (await asked('admin')).ok);
    expect(await asked('admin')).toMatchObject({ role: 'admin' });
    await owner.delete(`/api/orgs/${org.id}/members/${member.id}`);
    await waitFor('no member any more', hangTimeoutMs(), async () => !(await asked()).ok);

    expect(await asked()).toMatchObject({ status: 403, problem: { code: 'not_a_member' } });
    expect(await admit(guard, member)).toMatchObject({ ok: true });
    expect(door.count(MEMBERSHIPS)).toBe(1);
    await join(org, owner, member, 'member');
    await waitFor('a member again', hangTimeoutMs(), async () => (await asked()).ok);
    expect(door.count(MEMBERSHIPS)).toBe(1);
  });

  it('comes and goes with the organization, and with the account', async () => {
    const { org, owner, member } = await anOrg(service);
    const guard = aGuard();
    const role = async () => {
      const answer = await guard.roleOf(member.id, org.id);
      return answer.ok && String(answer.role);
    };
    const until = (wanted: string) => waitFor(wanted, hangTimeoutMs(), async () => (await role()) === wanted);
    expect(await role()).toBe('member');

    await owner.delete(`/api/orgs/${org.id}`);
    await until('undefined');
    await owner.post(`/api/orgs/${org.id}/restore`, {});
    await until('member');
    await accountsJson(installation, ['users', 'disable', member.email]);
    await until('undefined');
    await accountsJson(installation, ['users', 'enable', member.email]);
    await until('member');
  });
});

describe('a member of an organization that requires a second factor', () => {
  async function aRequiringOrg(from: string) {
    const cast = await anOrg(service);
    await protect(service, cast.owner);
    const path = `/api/orgs/${cast.org.id}`;
    const require = (time: string | null) => cast.owner.patch(path, { secondFactorRequiredFrom: time });
    const heard: FeedEvent[] = [];
    const guard = aGuard({ onEvent: (event) => void heard.push(event) });
    const role = async (of = cast.member) => {
      const answer = await guard.roleOf(of.id, cast.org.id);
      return answer.ok && String(answer.role);
    };
    const until = (wanted: string) => waitFor(wanted, hangTimeoutMs(), async () => (await role()) === wanted);
    const hears = (type: FeedEvent['type']) =>
      waitFor(`${type} is heard`, hangTimeoutMs(), () =>
        heard.some((event) => event.type === type && event.orgId === cast.org.id),
      );
    expect(await role()).toBe('member');
    expect((await require(from)).status).toBe(200);
    return { ...cast, guard, require, role, until, hears };
  }

  it('is refused while they have none, whatever their role becomes, and admitted with one', async () => {
    const { org, owner, member, guard, require, role, until, hears } =
      await aRequiringOrg('2020-01-01T00:00:00Z');
    await until('undefined');
    const refused = { status: 403, problem: { code: 'not_a_member' } };
    expect(await guard.authorize(bearer(member.token), { orgId: org.id })).toMatchObject(refused);
    expect(await role(owner)).toBe('owner');
    await enrol(member);
    await until('member');

    await accountsJson(installation, ['users', 'remove-second-factor', member.email, ...BY_ROOT]);
    await until('undefined');
    await owner.patch(`/api/orgs/${org.id}/members/${member.id}`, { role: 'admin' });
    await hears('member.role_changed');
    expect(await role()).toBe('undefined');
    await require(null);
    await until('admin');
  });

  it('is asked about each time shortly before it begins, until the event', async () => {
    const soon = new Date(Date.now() + 3000).toISOString();
    const { role, until, hears, member } = await aRequiringOrg(soon);
    await hears('org.second_factor_required');
    const before = door.count(MEMBERSHIPS);
    for (const _ of times(3, () => 0)) expect(await role()).toBe('member');
    expect(door.count(MEMBERSHIPS)).toBe(before + 3);
    await until('undefined');
    await hears('org.second_factor_due');
    expect(await role()).toBe('undefined');
    const asked = door.count(MEMBERSHIPS);
    for (const _ of times(3, () => 0)) expect(await role(member)).toBe('undefined');
    expect(door.count(MEMBERSHIPS)).toBe(asked);
  });
});

describe('the role of a member, between answers and events', () => {
  async function anOpenGuard() {
    const heard: FeedEvent[] = [];
    const guard = aGuard({ onEvent: (event) => void heard.push(event) });
    await waitFor('the feed is heard', hangTimeoutMs(), () => guard.isCurrent());
    const hears = (type: FeedEvent['type'], userId: string) =>
      waitFor(`${type} is heard`, hangTimeoutMs(), () =>
        heard.some((event) => event.type === type && event.userId === userId),
      );
    return { guard, hears };
  }

  it('admits a member without another question while others add and remove this user elsewhere', async () => {
    const { org, member } = await anOrg(service);
    const attacker = await anAccount(service);
    const { guard, hears } = await anOpenGuard();
    const ask = () => guard.authorize(`Bearer ${member.token}`, { orgId: org.id });
    expect(await ask()).toMatchObject({ ok: true, role: 'member' });

    for (const { id } of [await anOrgOf(attacker), await anOrgOf(attacker)]) {
      await attacker.post(`/api/orgs/${id}/members`, { email: member.email, role: 'member' });
      expect(await ask()).toMatchObject({ ok: true, role: 'member' });
      await attacker.delete(`/api/orgs/${id}/members/${member.id}`);
      expect(await ask()).toMatchObject({ ok: true, role: 'member' });
    }
    await hears('member.removed', member.id);
    expect(await ask()).toMatchObject({ ok: true, role: 'member' });
    expect(door.count(MEMBERSHIPS)).toBe(1);
  });

  it('takes a newer event in place of an answer that was on its way, and asks once', async () => {
    const { org, owner, member } = await anOrg(service);
    const { guard, hears } = await anOpenGuard();

    door.hold(MEMBERSHIPS);
    const asked = guard.roleOf(member.id, org.id);
    await waitFor('Accounts has answered', hangTimeoutMs(), () => door.holds(MEMBERSHIPS) === 1);
    await owner.patch(`/api/orgs/${org.id}/members/${member.id}`, { role: 'admin' });
    await hears('member.role_changed', member.id);
    door.release(MEMBERSHIPS);

    expect(await asked).toEqual({ ok: true, role: 'admin' });
    expect(await guard.roleOf(member.id, org.id)).toEqual({ ok: true, role: 'admin' });
    expect(door.count(MEMBERSHIPS)).toBe(1);
  });

  it('admits nobody by an answer from before the removal, and whom an event adds after an answer', async () => {
    const { org, owner, member } = await anOrg(service);
    const { guard, hears } = await anOpenGuard();
    const another = await anAccount(service);
    expect(await guard.roleOf(another.id, org.id)).toEqual({ ok: true, role: undefined });

    door.hold(MEMBERSHIPS);
    const asked = guard.roleOf(member.id, org.id);
    await waitFor('Accounts has answered', hangTimeoutMs(), () => door.holds(MEMBERSHIPS) === 1);
    await owner.delete(`/api/orgs/${org.id}/members/${member.id}`);
    await owner.post(`/api/orgs/${org.id}/members`, { email: another.email, role: 'admin' });
    await hears('member.removed', member.id);
    await hears('member.added', another.id);
    door.release(MEMBERSHIPS);

    expect(await asked).toEqual({ ok: true, role: undefined });
    expect(await guard.roleOf(another.id, org.id)).toEqual({ ok: true, role: 'admin' });
    expect(door.count(MEMBERSHIPS)).toBe(2);
  });

  it('leaves places to others while one user asks about many organizations', async () => {
    const { org, member, outsider } = await anOrg(service);
    const { guard } = await anOpenGuard();

    door.hold(MEMBERSHIPS);
    const many = times(300, () => guard.roleOf(outsider.id, anUnknownId()));
    const asked = guard.roleOf(member.id, org.id);
    await waitFor('the other question has arrived', hangTimeoutMs(), () => door.holds(MEMBERSHIPS) === 5);
    expect(door.count(MEMBERSHIPS)).toBe(5);
    door.release(MEMBERSHIPS);

    expect(await asked).toEqual({ ok: true, role: 'member' });
    const answers = await Promise.all(many);
    expect(answers[0]).toEqual({ ok: true, role: undefined });
    expect(answers.at(-1)).toMatchObject({ status: 503, problem: { code: 'unavailable' } });
  });

  it('knows without a question that malformed ids are no organizations', async () => {
    const ada = await anAccount(service);
    const { guard } = await anOpenGuard();
    const id = '01A1FBF4-7EA2-724E-B0F0-000000000000';
    for (const orgId of ['', 'engines', id, `${id.toLowerCase()}x`]) {
      const refused = { status: 403, problem: { code: 'not_a_member' } };
      expect(await guard.authorize(bearer(ada.token), { orgId }), orgId).toMatchObject(refused);
    }
    expect(door.count(MEMBERSHIPS)).toBe(0);
  });
});

it('takes tokens of a key that it did not know', async () => {
  const { ada, guard } = await anAdmission();
  const next = aSigningKey();
  await installation.writeKeys([next, ...installation.keys]);
  await waitFor('the new key signs', hangTimeoutMs(), () =>
    service.logs.some((line) => line.includes(`"signing":"${next.kid}"`)),
  );
  const token = await anotherLogin(ada);
  expect(decodeToken(token).header['kid']).toBe(next.kid);
  await waitFor('it is taken', hangTimeoutMs(), async () => (await guard.authorize(bearer(token))).ok);
  expect(await admit(guard, ada)).toMatchObject({ ok: true });
  expect(door.count('/.well-known/jwks.json')).toBeLessThanOrEqual(3);
});

it('goes on after a restart of Accounts', async () => {
  const [ada, grace] = await Promise.all([anAccount(service), anAccount(service)]);
  const guard = aGuard({ maxStaleness: 4 });
  expect(await admit(guard, ada)).toMatchObject({ ok: true });

  await service.stop();
  service = await startOwnService({ installation, env: withoutLimits });
  door.leadTo(service.url);
  await waitFor('the feed goes on', hangTimeoutMs(), () => guard.isCurrent());

  expect(await admit(guard, ada)).toMatchObject({ ok: true });
  expect(await admit(guard, grace)).toMatchObject({ ok: true });
});

it('leaves a connection on which nothing comes any more, before its feed counts as silent', async () => {
  // Less than the wait of a request and the longest that its answer may be late.
  const { ada, guard } = await anAdmission({ maxStaleness: 5 });
  await waitFor('a request waits', hangTimeoutMs(), () => door.isWaiting('/api/events'));

  door.loseConnections();
  await ada.post('/api/auth/logout', {});
  const answers = new Set<unknown>();
  await waitFor('the log-out is heard', hangTimeoutMs(), async () => {
    const answer = await admit(guard, ada);
    answers.add(answer.ok || answer.status);
    return answers.has(401);
  });

  expect(answers).not.toContain(503);
});

it('tells nothing once it is closed', async () => {
  const { ada, guard } = await anAdmission();
  await guard.close();
  const asked = door.asked.length;
  expect(await admit(guard, ada)).toMatchObject({ status: 503 });
  expect(door.asked.length).toBe(asked);
});

/** The heap that the program may have: what a mistake keeps beyond it ends the program. */
const HEAP_MIB = 200;
/** A map of 100,000 entries is copied into a larger or a smaller one now and then. */
const MOVED_MIB = 8;

it('remembers 100,000 members in less than 200 MiB, and no more however many events follow', () => {
  const program = pathOf(import.meta.dirname, 'support/full-guard.ts');
  const limits = ['--expose-gc', `--max-old-space-size=${HEAP_MIB}`];
  const said = execFileSync(process.execPath, [...limits, program], { encoding: 'utf8' });
  const { empty, members, full, further } = JSON.parse(said) as Record<string, number>;
  expect(members).toBeGreaterThan(empty!);
  expect(full).toBeLessThan(HEAP_MIB);
  expect(further).toBeLessThan(full! + MOVED_MIB);
});
