import { getEventListeners } from 'node:events';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { hangTimeoutMs } from '../../tooling/wait.js';
import { applyEvent } from '../src/service/applied-events.ts';
import { type GuardClient, BoundedCalls } from '../src/service/bounded-calls.ts';
import { Changes } from '../src/service/changes.ts';
import { createGuard, type FeedEvent, type GuardOptions } from '../src/service/index.ts';
import { Memberships } from '../src/service/memberships.ts';
import { RecentlyUsed } from '../src/service/recently-used.ts';
import { Revisions } from '../src/service/revisions.ts';
import { inTime } from '../src/waiting.ts';
import { type Answer, json, OddServer, page, problem, silence } from './support/odd-server.ts';

const SECRET = 'acs_never-logged';
/** Later than a service that is up is expected to be. */
const LATE_MS = 900;

const [server, stopped] = [await OddServer.start(), await OddServer.start()];
const nobody = stopped.url;
await stopped.stop();
afterAll(() => server.stop());

const options = (): GuardOptions => ({
  issuer: server.url,
  audience: 'billing',
  credentials: { name: 'billing', secret: SECRET },
});

describe('a guard that could admit nobody', () => {
  const SECRET_WANTED = 'credentials.secret must be a secret, or a function that returns it';
  const AUDIENCE_WANTED = 'audience must be the name of this service, or a list of audiences';
  it.each<[string, object]>([
    ['credentials must have the name and the secret of a service', { credentials: undefined }],
    ['credentials.name must be a name', { credentials: { name: '', secret: SECRET } }],
    [SECRET_WANTED, { credentials: { name: 'billing', secret: undefined } }],
    [SECRET_WANTED, { credentials: { name: 'billing', secret: '' } }],
    ['issuer must be the JWT_ISSUER of Accounts', { issuer: undefined }],
    ['issuer must be the JWT_ISSUER of Accounts', { issuer: '' }],
    ['the issuer is not a URL: also pass baseUrl, the URL of Accounts', { issuer: 'accounts' }],
    [
      'the issuer has a path: also pass baseUrl, the URL of Accounts',
      { issuer: 'https://example.com/accounts' },
    ],
    ['baseUrl must end before /api, which the client adds', { baseUrl: 'https://accounts.example.com/api' }],
    [AUDIENCE_WANTED, { audience: undefined }],
    [AUDIENCE_WANTED, { audience: '' }],
    [AUDIENCE_WANTED, { audience: [] }],
    [AUDIENCE_WANTED, { audience: ['billing', 7] }],
    ['log must have a function warn', { log: {} }],
    ['createGuard does not take "audiance"', { audiance: 'billing' }],
    ['createGuard does not take "onFeedProblems"', { onFeedProblems: () => undefined }],
    ['limits do not take "token"', { limits: { token: 1 } }],
    ['onReset must be a function', { onReset: 'clear' }],
  ])('is not created: %s', (message, wrong) => {
    expect(() => createGuard({ ...options(), ...wrong })).toThrow(new TypeError(message));
  });

  it.each([0, -1, Number.NaN, '5s'])('is not created with timeoutMs %s', (timeoutMs) => {
    const wrong = { ...options(), timeoutMs: timeoutMs as number };
    expect(() => createGuard(wrong)).toThrow(
      new RangeError('timeoutMs must be a number of milliseconds above 0'),
    );
  });

  it('takes no option that a request does not have', async () => {
    const guard = createGuard(options());
    const wrong = { signal: undefined, orgID: 'o' };
    await expect(guard.roleOf('u', 'o', wrong)).rejects.toThrow(TypeError);
    await expect(guard.exchange({ code: 'c', codeVerifier: 'v' }, wrong)).rejects.toThrow(TypeError);
    await expect(guard.logOut('Bearer t', wrong)).rejects.toThrow(TypeError);
    await guard.close();
  });
});

describe('the log of a guard', () => {
  const about = { type: 'about:blank', title: 'T', status: 403, detail: 'D', requestId: 'r' };
  const LACKING = json(403, { ...about, code: 'insufficient_scope', requiredScope: 'events' });
  const unreadable = () => {
    throw new Error('no such file');
  };

  it.each([
    ['a wrong secret', problem(401, 'invalid_client'), ['name or the secret of "billing"', 'invalid_client']],
    ['a missing scope', LACKING, ['"billing" lacks the scope "events"', 'insufficient_scope']],
  ])('names %s without a request', async (_what, answer, parts) => {
    server.answer(answer);
    const warn = vi.fn<(message: string) => void>();
    const guard = createGuard({ ...options(), log: { warn } });
    await vi.waitFor(() => expect(warn).toHaveBeenCalled(), { timeout: hangTimeoutMs() });
    for (const part of parts) expect(warn.mock.calls[0]![0]).toContain(part);
    await vi.waitFor(() => expect(server.asked.length).toBeGreaterThan(2), { timeout: hangTimeoutMs() });
    expect(warn).toHaveBeenCalledTimes(1);
    await guard.close();
  });

  it.each<[string, Partial<GuardOptions>, string]>([
    ['an Accounts that cannot be reached', { baseUrl: nobody }, '(ECONNREFUSED)'],
    [
      'a secret that cannot be read',
      { credentials: { name: 'billing', secret: unreadable } },
      'the secret of "billing" cannot be read: no such file',
    ],
    ['another server', {}, 'Another server than Accounts answered 404'],
  ])('names %s once, however many requests are refused', async (_what, more, part) => {
    server.answer(page(404, '<html>'));
    const warn = vi.fn<(message: string) => void>();
    const guard = createGuard({ ...options(), ...more, log: { warn } });

    for (let time = 0; time < 3; time += 1) {
      expect(await guard.exchange({ code: 'c', codeVerifier: 'v' })).toMatchObject({ status: 503 });
    }
    const lines = warn.mock.calls.map(([message]) => message);
    expect(lines.filter((line) => line.includes(part))).toHaveLength(1);
    expect(lines[0]).toContain('503');
    expect(lines.join()).not.toContain(SECRET);
    await guard.close();
  });

  it('is the console where none is given', async () => {
    server.answer(problem(401, 'invalid_client'));
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    const guard = createGuard(options());
    expect(await guard.roleOf('u', 'o')).toMatchObject({ status: 503 });
    expect(warn).toHaveBeenCalledTimes(1);
    await guard.close();
    warn.mockRestore();
  });
});

const MINE = new Error('mine');
const throwing = (): never => {
  throw MINE;
};

describe.each<[string, () => unknown]>([
  ['throws', throwing],
  ['rejects', () => Promise.reject(MINE)],
])('a hook that %s', (_how, fail) => {
  // A request of another guard would take an answer that is meant for this one.
  let own: OddServer;
  beforeEach(async () => {
    own = await OddServer.start();
  });
  afterEach(() => own.stop());

  const feed = json(200, { events: [], next: '0' });
  const news = json(200, { events: [{ type: 'org.renamed' }], next: '1' });
  it.each<['onEvent' | 'onReset' | 'onFeedProblem', Answer[]]>([
    ['onEvent', [feed, news, news, silence]],
    ['onReset', [feed, problem(410, 'cursor_expired'), feed, silence]],
    ['onFeedProblem', [problem(500, 'internal_error'), problem(500, 'internal_error'), silence]],
  ])('is logged once, and ends nothing: %s', async (name, answers) => {
    own.answer(...answers);
    const warn = vi.fn<(message: string) => void>();
    const hook = vi.fn<() => unknown>(fail);
    const guard = createGuard({ ...options(), baseUrl: own.url, [name]: hook, log: { warn } });
    await vi.waitFor(() => expect(hook).toHaveBeenCalledTimes(2), { timeout: hangTimeoutMs() });
    await guard.close();
    expect(warn.mock.calls).toEqual([[`accounts-client: ${name} failed: Error: mine`]]);
  });

  it('may be the log itself', async () => {
    own.answer(problem(401, 'invalid_client'));
    const warn = vi.fn<() => unknown>(fail);
    const guard = createGuard({ ...options(), baseUrl: own.url, log: { warn } });
    expect(await guard.roleOf('u', 'o')).toMatchObject({ status: 503 });
    expect(warn).toHaveBeenCalledTimes(1);
    await guard.close();
  });
});

it('a decision leaves no timer and no listener behind', async () => {
  const { signal } = new AbortController();
  const timers = (): number =>
    process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
  const before = timers();
  expect(await inTime(Promise.resolve(1), 60_000, signal)).toBe(1);
  await expect(inTime(Promise.reject(MINE), 60_000, signal)).rejects.toBe(MINE);
  expect([timers(), getEventListeners(signal, 'abort')]).toEqual([before, []]);
});

it('a guard waits for a service that is always late, rather than give each answer up', async () => {
  let answers = 0;
  server.answer(json(200, { events: [], next: '0' }), (response, asked) => {
    const wait = Number(new URL(asked.path, server.url).searchParams.get('wait'));
    const late = setTimeout(
      () => {
        answers += 1;
        json(200, { events: [{ type: 'org.renamed' }], next: String(answers) })(response, asked);
      },
      wait * 1000 + LATE_MS,
    );
    response.on('close', () => clearTimeout(late));
  });
  let heard = 0;
  const guard = createGuard({ ...options(), onEvent: () => (heard += 1) });

  await vi.waitFor(() => expect(heard).toBeGreaterThan(1), { timeout: hangTimeoutMs() });
  await guard.close();
});

describe('what is kept', () => {
  it('forgets what was not used for the longest time', () => {
    const kept = new RecentlyUsed<number>(2);
    kept.set('a', 1);
    kept.set('b', 2);
    kept.get('a');
    kept.set('c', 3);
    expect(['a', 'b', 'c'].map((key) => kept.get(key))).toEqual([1, undefined, 3]);
  });

  it('is bounded by weight, takes one that alone is too heavy, and weighs anew what is set again', () => {
    const kept = new RecentlyUsed<number>(10, (weight) => weight);
    for (let key = 0; key < 1000; key += 1) kept.set(String(key), 3);
    expect(kept.size).toBe(3);
    kept.set('heavy', 11);
    expect([kept.size, kept.get('heavy')]).toEqual([1, 11]);
    for (let time = 0; time < 100; time += 1) kept.set('same', 6);
    kept.set('other', 4);
    expect([kept.size, kept.get('same'), kept.get('other')]).toEqual([2, 6, 4]);
  });
});

it('reads for other users while many reads wait for a revision', async () => {
  const calls = new BoundedCalls({} as GuardClient, new AbortController().signal);
  const never = Array.from({ length: 100 }, () =>
    calls.read(() => new Promise<never>(() => {}), { awaitsRevision: true }),
  );
  expect(never).toHaveLength(100);
  const read = calls.read(() => Promise.resolve({ ok: true, data: 'role' } as never));
  expect(await inTime(read, hangTimeoutMs())).toBe('role');
});

describe('the suspension of a member', () => {
  const [userId, orgId] = [crypto.randomUUID(), crypto.randomUUID()];
  const NOW = Date.parse('2027-01-01T00:00:00Z');

  function known(answer: () => object | undefined) {
    const changes = new Changes(10);
    const asked = { count: 0 };
    const listMemberships = (): Promise<object> => {
      asked.count += 1;
      return Promise.resolve({ ok: true, data: { memberships: [answer()].filter(Boolean) } });
    };
    const calls = new BoundedCalls(
      { listMemberships } as unknown as GuardClient,
      new AbortController().signal,
    );
    const memberships = new Memberships(calls, changes, 10);
    const revisions = new Revisions(10);
    let orgRevision = 1;
    const tell = (type: string, data: object = {}): void => {
      orgRevision += 1;
      applyEvent({ type, userId, orgId, orgRevision, data } as FeedEvent, {
        changes,
        memberships,
        revisions,
      });
    };
    return { asked, tell, role: () => memberships.roleIn(orgId, userId) };
  }
  const member = { role: 'member', orgRevision: 1 };
  const suspended = true;

  it.each<[string, [type: string, data?: object][], role: string | undefined, questions: number]>([
    ['takes the role', [['member.suspended']], undefined, 1],
    ['gives the role back', [['member.suspended'], ['member.resumed']], 'member', 1],
    ['outlives a new role', [['member.role_changed', { to: 'admin', suspended }]], undefined, 1],
    [
      'gives the new role back',
      [['member.role_changed', { to: 'admin', suspended }], ['member.resumed']],
      'admin',
      1,
    ],
    ['comes with the membership', [['member.added', { role: 'admin', suspended }]], undefined, 1],
    [
      'ends with another change',
      [['member.suspended'], ['member.role_changed', { to: 'admin' }]],
      'admin',
      1,
    ],
    [
      'does not outlive the membership',
      [['member.suspended'], ['member.added', { role: 'owner' }]],
      'owner',
      1,
    ],
    ['is asked about when the time has come', [['member.suspended'], ['org.second_factor_due']], 'member', 2],
    [
      'is asked about when the time is moved',
      [['member.suspended'], ['org.second_factor_required']],
      'member',
      2,
    ],
  ])('%s', async (_what, events, role, questions) => {
    const {
      asked,
      tell,
      role: roleNow,
    } = known(() => ({ ...member, orgRevision: asked.count + 8 * (asked.count - 1) }));
    expect(await roleNow()).toBe('member');
    for (const event of events) tell(...event);
    expect(await roleNow()).toBe(role);
    expect(asked.count).toBe(questions);
  });

  it('ends with a question if no event told the role', async () => {
    let answer: object | undefined;
    const { asked, tell, role } = known(() => answer);
    expect([await role(), await role(), asked.count]).toEqual([undefined, undefined, 1]);
    answer = { role: 'admin', orgRevision: 2 };
    tell('member.resumed');
    expect([await role(), await role(), asked.count]).toEqual(['admin', 'admin', 2]);
  });

  it('ends with another question if an answer was on its way', async () => {
    const answers = [undefined, { role: 'admin', orgRevision: 2 }];
    const { asked, tell, role } = known(() => answers.shift());
    const asking = role();
    tell('member.resumed');
    expect([await asking, asked.count]).toEqual(['admin', 2]);
  });

  it('is asked about each time from 5 seconds before it begins until its event', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: NOW - 5001 });
    const from = { secondFactorRequiredFrom: new Date(NOW).toISOString() };
    const { asked, tell, role } = known(() => ({ ...member, ...(Date.now() < NOW && from) }));
    const ask = async (at: number): Promise<number> => {
      vi.setSystemTime(at);
      await role();
      return asked.count;
    };
    expect([await ask(NOW - 5001), await ask(NOW - 5001)]).toEqual([1, 1]);
    expect([await ask(NOW - 5000), await ask(NOW - 1), await ask(NOW), await ask(NOW + 900)]).toEqual([
      2, 3, 4, 5,
    ]);
    tell('org.second_factor_due');
    expect([await ask(NOW + 901), await ask(NOW + 902)]).toEqual([6, 6]);
    vi.useRealTimers();
  });
});

describe('revisions', () => {
  it('are seen up to the highest of their organization, and forgotten after a gap', async () => {
    const revisions = new Revisions(2);
    revisions.note('engines', 5);
    revisions.note('engines', 4);
    const seen = (org: string) => [4, 5, 6].map((revision) => revisions.has(org, revision));
    expect([seen('engines'), seen('looms')]).toEqual([
      [true, true, false],
      [false, false, false],
    ]);
    const [sixth, seventh] = [revisions.wait('engines', 6, 60_000), revisions.wait('engines', 7, 1)];
    revisions.forgetAll();
    expect(seen('engines')).toEqual([false, false, false]);
    revisions.note('engines', 6);
    expect([await sixth, await seventh]).toEqual([true, false]);
  });

  it('of the organizations that changed last are kept', () => {
    const revisions = new Revisions(2);
    for (const org of ['a', 'b', 'c']) revisions.note(org, 1);
    expect(['a', 'b', 'c'].map((org) => revisions.has(org, 1))).toEqual([false, true, true]);
  });
});

describe('changes', () => {
  it('void what was read before them, of their subject alone, and after a gap everything', () => {
    const changes = new Changes(10);
    const before = changes.position;
    changes.note('ada');
    expect([changes.isVoid(before, 'ada'), changes.isVoid(before, 'grace')]).toEqual([true, false]);
    expect(changes.isVoid(changes.position, 'ada')).toBe(false);
    changes.noteAll();
    expect(changes.isVoid(before, 'anybody')).toBe(true);
    expect(changes.isVoid(changes.position, 'anybody')).toBe(false);
  });

  it('keep what an earlier one has told of sessions, and the highest epoch, whatever comes after it', () => {
    const changes = new Changes(10);
    changes.note('ada', { epoch: 3, except: 'kept' });
    changes.note('ada');
    changes.note('ada', { epoch: 2, except: 'ended' });
    expect(changes.find('ada')).toMatchObject({ epoch: 3, except: 'kept' });
    changes.note('ada', { epoch: 4 });
    expect(changes.find('ada')).toMatchObject({ epoch: 4 });
    expect(changes.find('ada')?.except).toBeUndefined();
  });

  it('void everything that is older than what they had to forget', () => {
    const changes = new Changes(2);
    const before = changes.position;
    changes.note('ada');
    const between = changes.position;
    changes.note('grace');
    expect(changes.isVoid(before, 'joan')).toBe(false);
    changes.note('mary');

    expect(changes.find('ada')).toBeUndefined();
    expect([changes.isVoid(before, 'joan'), changes.isVoid(before, 'ada')]).toEqual([true, true]);
    expect(changes.isVoid(between, 'joan')).toBe(false);
  });
});
