import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { createGuard, type Guard, type GuardOptions } from '../../client/src/service/index.ts';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { times } from '../support/at-once.js';
import { type Account, anAccount, anOrg, anOrgOf, join, logIn } from '../support/personas.js';
import { protect } from '../support/second-factor.js';
import { startService } from '../support/service.js';
import { aBoundToken, aServiceCaller } from '../support/services.js';
import { Door } from './support/door.js';

const [EVENTS, MEMBERSHIPS] = ['/api/events', '/api/memberships'];
const NEVER = 1_000_000;
const HOUR = 3_600;

const service = await startService();
const door = await Door.open(service.url);
const billing = await aServiceCaller(service, 'introspect', 'memberships', 'events');
const open: Guard[] = [];
afterEach(async () => {
  for (const path of [EVENTS, MEMBERSHIPS]) door.release(path);
  door.isShut = false;
  await Promise.all(open.splice(0).map((guard) => guard.close()));
  door.asked.length = 0;
});
afterAll(() => door.close());

function aGuard(more: Partial<GuardOptions> = {}): Guard {
  const { name, secret } = billing;
  const credentials = { name, secret };
  const log = { warn: () => undefined };
  const options = { issuer: 'accounts', audience: ['accounts', name], baseUrl: door.url, credentials, log };
  const guard = createGuard({ ...options, ...more });
  open.push(guard);
  return guard;
}

const reasonsOf = (guard: Guard, timeoutMs?: number): Promise<string[]> =>
  guard.ready({ timeoutMs }).then(
    () => [],
    ({ reasons }: { reasons: string[] }) => reasons.toSorted(),
  );

describe('ready', () => {
  it('resolves if the guard can admit users, and rejects once it is closed', async () => {
    const ada = await anAccount(service);
    const guard = aGuard();
    await guard.ready();
    expect(guard.isCurrent()).toBe(true);
    expect(await guard.authorize(`Bearer ${ada.token}`)).toMatchObject({ ok: true });
    await guard.close();
    await expect(guard.ready()).rejects.toThrow('The guard is not ready');
    await expect(guard.ready({ timeout: 1 } as object)).rejects.toThrow(TypeError);
  });

  it('rejects with every reason at once, and with no secret', async () => {
    const deaf = await aServiceCaller(service);
    const { name, secret } = deaf;
    const more = {
      issuer: 'http://localhost',
      audience: [name, 'bilding'],
      credentials: { name, secret },
    };
    const guard = aGuard(more);
    const lacks = (scope: string) =>
      expect.stringContaining(`"${name}" lacks the scope "${scope}"`) as string;
    expect(await reasonsOf(guard)).toEqual([
      lacks('events'),
      lacks('introspect'),
      lacks('memberships'),
      `no token has the audience "bilding": it must be "${name}" or "accounts"`,
      'the issuer is "http://localhost", and JWT_ISSUER is "accounts"',
    ]);
    const error: unknown = await guard.ready().catch((failure: unknown) => failure);
    expect(error).toMatchObject({
      name: 'GuardNotReadyError',
      message: expect.stringContaining('- no token') as string,
    });
    expect(JSON.stringify(error) + String(error)).not.toContain(secret);
  });

  it('says once that the secret is wrong', async () => {
    const guard = aGuard({ credentials: { name: billing.name, secret: `acs_${'x'.repeat(43)}` } });
    const expected = `Accounts rejects the name or the secret of "${billing.name}" (invalid_client)`;
    expect(await reasonsOf(guard)).toEqual([expected]);
  });

  it('waits for an Accounts that cannot be reached, until its time is over', async () => {
    door.shut();
    const guard = aGuard();
    const [reason, ...others] = await reasonsOf(guard, 3_000);
    expect([reason, others]).toEqual([expect.stringContaining(`cannot be reached at ${door.url}`), []]);

    const asked = door.asked.length;
    const ready = guard.ready();
    await waitFor('it tries again', hangTimeoutMs(), () => door.asked.length > asked + 8);
    door.isShut = false;
    await expect(ready).resolves.toBeUndefined();
  });
});

describe('step-up', () => {
  async function twoUsers() {
    const [ada, grace] = [await anAccount(service), await anAccount(service)];
    await protect(service, grace);
    const old = HOUR * 1000;
    await service.db.query('UPDATE sessions SET auth_time = auth_time - ? WHERE user_id = ?', [
      old,
      grace.id,
    ]);
    return { ada, grace };
  }

  it('admits a login that is recent and strong enough, and says what another one needs', async () => {
    const { ada, grace } = await twoUsers();
    const guard = aGuard();
    const [recent, strong] = [`Bearer ${await aBoundToken(billing, ada)}`, await aBoundToken(billing, grace)];
    expect(await guard.authorize(recent, { maxAge: HOUR / 2, amr: ['pwd'] })).toMatchObject({ ok: true });
    expect(await guard.authorize(`Bearer ${strong}`, { maxAge: 2 * HOUR, amr: ['otp'] })).toMatchObject({
      ok: true,
      session: { amr: ['pwd', 'otp'] },
    });
    const code = 'insufficient_user_authentication';
    const detail = 'A more recent or stronger login is required.';
    const challenge = `Bearer error="${code}", error_description="${detail}"`;
    expect(await guard.authorize(`Bearer ${strong}`, { maxAge: HOUR / 2 })).toMatchObject({
      status: 401,
      headers: { 'WWW-Authenticate': `${challenge}, max_age="1800"` },
      problem: { code, maxAge: 1800 },
    });
    const weak = await guard.authorize(recent, { amr: ['otp'] });
    expect(weak).toMatchObject({
      status: 401,
      headers: { 'WWW-Authenticate': challenge },
      problem: { code },
    });
    expect(weak).toHaveProperty('problem.amr', ['otp']);
  });

  it('is not asked of users whom another login would not help', async () => {
    const { owner, member, outsider, org } = await anOrg(service);
    const guard = aGuard();
    const required = { orgId: org.id, role: 'admin', maxAge: 0 } as const;
    const codes = [owner, member, outsider].map(async ({ token }) => {
      const answer = await guard.authorize(`Bearer ${token}`, required);
      return answer.ok ? 'ok' : answer.problem.code;
    });
    expect(await Promise.all(codes)).toEqual([
      'insufficient_user_authentication',
      'insufficient_role',
      'not_a_member',
    ]);
  });

  it.each<[string, object]>([
    ['an age of another type', { maxAge: '300' }],
    ['no number', { maxAge: Number.NaN }],
    ['a negative age', { maxAge: -1 }],
    ['an unknown method', { amr: ['sms'] }],
    ['one method that is no list', { amr: 'otp' }],
    ['a revision without an organization', { atLeast: 1 }],
    ['a revision that is text', { orgId: 'x', atLeast: '1' }],
    ['a revision that is no integer', { orgId: 'x', atLeast: 1.5 }],
  ])('does not take %s', async (_what, options) => {
    await expect(aGuard().authorize('Bearer x', options)).rejects.toThrow(TypeError);
  });
});

describe('atLeast', () => {
  const revisionOf = ({ headers }: { headers: Headers }): number =>
    Number(/^"(\d+)"$/.exec(headers.get('etag')!)![1]);
  const count = (): number => door.count(MEMBERSHIPS);

  async function known(roles: Partial<GuardOptions> = {}) {
    const cast = await anOrg(service);
    const guard = aGuard(roles);
    await guard.ready();
    door.asked.length = 0;
    const orgId = cast.org.id;
    const asked = ({ token }: Pick<Account, 'token'>, atLeast?: number) =>
      guard.authorize(`Bearer ${token}`, { orgId, ...(atLeast !== undefined && { atLeast }) });
    expect(await asked(cast.member)).toMatchObject({ role: 'member' });
    const change = (role: string) =>
      cast.owner.patch(`/api/orgs/${orgId}/members/${cast.member.id}`, { role });
    const remove = () => cast.owner.delete(`/api/orgs/${orgId}/members/${cast.member.id}`);
    return { ...cast, guard, asked, change, remove };
  }

  it('decides by the change as soon as the feed has told of it, without a question', async () => {
    const { asked, change, remove, member, owner, org } = await known();
    for (const role of ['admin', 'member', 'admin']) {
      expect(await asked(member, revisionOf(await change(role)))).toMatchObject({ ok: true, role });
    }
    const removed = revisionOf(await remove());
    expect(await asked(member, removed)).toMatchObject({ status: 403 });
    await join(org, owner, member, 'member');
    expect(await asked(member, removed + 1)).toMatchObject({ role: 'member' });
  });

  it('asks if the feed is late, together with all that ask about the same user there', async () => {
    const { asked, change, remove, member } = await known();
    await waitFor('the feed waits', hangTimeoutMs(), () => door.isWaiting(EVENTS));
    door.hold(EVENTS);
    const changed = revisionOf(await change('admin'));
    door.hold(MEMBERSHIPS);
    const answers = Promise.all(times(20, () => asked(member, changed)));
    await waitFor('one has asked', hangTimeoutMs(), () => door.holds(MEMBERSHIPS) === 1);
    // A timer of now ends after those of the callers who still wait for the feed.
    await delay(100);
    door.release(MEMBERSHIPS);
    const roles = (await answers).map((answer) => 'role' in answer && answer.role);
    expect(roles).toEqual(times(20, () => 'admin'));
    expect(count()).toBe(2);
    expect(await asked(member, changed)).toMatchObject({ role: 'admin' });
    expect(count()).toBe(2);
    expect(await asked(member, revisionOf(await remove()))).toMatchObject({ status: 403 });
  });

  it('does not share a question that began before the request', async () => {
    const { guard, change, member, org, owner } = await known();
    await waitFor('the feed waits', hangTimeoutMs(), () => door.isWaiting(EVENTS));
    door.hold(EVENTS);
    const another = await anAccount(service);
    await join(org, owner, another, 'member');
    door.hold(MEMBERSHIPS);
    const early = guard.authorize(`Bearer ${another.token}`, { orgId: org.id });
    await waitFor('Accounts has answered', hangTimeoutMs(), () => door.holds(MEMBERSHIPS) === 1);
    const removed = await owner.delete(`/api/orgs/${org.id}/members/${another.id}`);
    const late = guard.authorize(`Bearer ${another.token}`, { orgId: org.id, atLeast: revisionOf(removed) });
    door.release(MEMBERSHIPS);
    expect(await early).toMatchObject({ role: 'member' });
    expect(await late).toMatchObject({ status: 403 });
    expect((await change('admin')).status, member.id).toBe(200);
  });

  it('refuses nobody for a revision that never comes, and does not remember it', async () => {
    const { asked, change, member, owner } = await known();
    expect(await asked(member, NEVER)).toMatchObject({ role: 'member' });
    expect(await asked(owner, NEVER)).toMatchObject({ role: 'owner' });
    expect(await asked(member, revisionOf(await change('admin')))).toMatchObject({ role: 'admin' });
    expect(await asked(member)).toMatchObject({ role: 'admin' });
  });

  it('lets a session ask five times a second, and leaves the places of other sessions to them', async () => {
    const owner = await anAccount(service);
    const orgs = await Promise.all(times(8, (index) => anOrgOf(owner, `Engines ${index}`)));
    const other = owner.as((await logIn(service, owner)).body.token);
    const stranger = await anOrg(service);
    const guard = aGuard();
    await guard.ready();
    const ask = ({ token }: Account, orgId: string, atLeast?: number) =>
      guard.authorize(`Bearer ${token}`, { orgId, ...(atLeast !== undefined && { atLeast }) });
    for (const { id } of orgs) expect(await ask(owner, id)).toMatchObject({ ok: true });
    expect(await ask(stranger.owner, stranger.org.id)).toMatchObject({ ok: true });
    expect(await guard.authorize(`Bearer ${other.token}`)).toMatchObject({ ok: true });

    door.hold(MEMBERSHIPS);
    const many = orgs.map(({ id }) => ask(owner, id, NEVER));
    await waitFor('five questions', hangTimeoutMs(), () => door.holds(MEMBERSHIPS) === 5);
    // Without a free question, the last answer decides, and at once.
    expect((await Promise.all(many.slice(5))).every(({ ok }) => ok)).toBe(true);
    const others = [ask(other, orgs[7]!.id, NEVER), ask(stranger.owner, stranger.org.id, NEVER)];
    await waitFor('those of others', hangTimeoutMs(), () => door.holds(MEMBERSHIPS) === 7);
    expect(await ask(owner, orgs[0]!.id)).toMatchObject({ role: 'owner' });
    door.release(MEMBERSHIPS);
    expect((await Promise.all([...many, ...others])).every(({ ok }) => ok)).toBe(true);
  });

  it('is 503 if Accounts does not answer the question', async () => {
    const warn = vi.fn<(message: string) => void>();
    const { asked, member } = await known({ log: { warn } });
    door.shut();
    expect(await asked(member, NEVER)).toMatchObject({ status: 503, headers: { 'Retry-After': '1' } });
    expect(await asked(member)).toMatchObject({ role: 'member' });
    expect(warn.mock.calls).toEqual([[expect.stringContaining('cannot be reached')]]);
  });
});
