import { describe, expect, it } from 'vitest';
import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceChanges } from '../../src/services/service-changes.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { Door } from '../client/support/door.js';
import { times } from '../support/at-once.js';
import { asString, clientOf, type Reply } from '../support/service-client.js';
import { aServiceClient, type ServiceClient, tokenRequest } from '../support/services.js';
import {
  askOf,
  closeAfterTest,
  countOf,
  ENGINES,
  startAt,
  Storage,
  UNLIMITED,
} from './support/deployment.js';
import { DelegatingServices, FollowedGuard, OPERATOR, operatorOf, type Use } from './support/delegation.js';
import { expectRounds, report } from './support/figures.js';
import { GaleraService } from './support/galera-service.js';
import { Random, seedOfRun } from './support/random.js';
import { StoppableService } from './support/stopped-process.js';

const PAGE_OF_FAMILY = 'AND revoked_at IS NULL\n      ORDER BY';

const logOut = (url: string, token: string) =>
  askOf(clientOf(url))(200, 'POST', '/api/auth/logout', {}, token);

/** How many ends meet faults: `ENDS=1000` takes several minutes. */
const ENDS = Number(process.env['ENDS'] ?? 120);
const AT_ONCE = 10;
const SAMPLE = 100;
const SERVICES = 5;

describe.each(ENGINES)('a login that ends on %s', (engine) => {
  it('is refused with all its delegated sessions by a guard, where the instance dies after the answer to the logout', async () => {
    const sessions = 300;
    const storage = await closeAfterTest(Storage.on(engine));
    const service = await StoppableService.on(storage);
    const { url } = service.process;
    const parts = await DelegatingServices.of(storage.installation, 1);
    const { token, uses } = await parts.aLogin(sessions);
    const guard = await FollowedGuard.of(parts.services[0]!, url);
    const useAll = async () => new Set(await Promise.all(uses.map((use) => guard.use(use.token))));
    expect(await useAll()).toEqual(new Set([200]));

    service.stopBefore(PAGE_OF_FAMILY);
    await logOut(url, token);
    await service.untilStopped();
    await service.process.kill();
    // Otherwise the guard could learn the ends of the delegated sessions from a pass that resumes.
    await storage.query('DELETE FROM pending_revocations');
    await service.process.start();

    await guard.untilHeard(performance.now());
    expect(await useAll()).toEqual(new Set([401]));
    expect(await countOf(storage, 'sessions WHERE revoked_at IS NULL')).toBe(sessions);
    report({ faults: 1, requests: sessions, wrong: 0 });
  });
});

/** In turns at once, so that as many requests as guards wait for answers. */
async function statusesOf(guards: readonly FollowedGuard[], uses: readonly Use[]): Promise<number[]> {
  const statuses: number[] = [];
  for (let from = 0; from < uses.length; from += SAMPLE) {
    const some = uses.slice(from, from + SAMPLE);
    statuses.push(...(await Promise.all(some.map(({ at, token }) => guards[at]!.use(token)))));
  }
  return statuses;
}

it(
  '5,000 delegated sessions end at five guards exactly below what ended, while instances are killed',
  { timeout: 600_000 },
  async () => {
    const [logins, branches] = [50, 20];
    const random = new Random(seedOfRun('ends of delegations under kills'));
    const storage = await closeAfterTest(Storage.on('mariadb'));
    const instances = [await startAt(storage), await startAt(storage)] as const;
    const door = await closeAfterTest(Door.open(instances[0].url));
    const parts = await DelegatingServices.of(storage.installation, SERVICES);
    const operator = await closeAfterTest(operatorOf(storage.installation));
    const ways = parts.services.slice(1).map((to, from) => [parts.services[from]!, to] as const);
    for (const [from, to] of ways) await operator.allow(from, to);
    const guards = await Promise.all(parts.services.map((service) => FollowedGuard.of(service, door.url)));
    const users = await Promise.all(times(logins, () => parts.aLogin(branches)));
    const uses = users.flatMap((login) => login.uses);
    expect(uses).toHaveLength(5000);

    const dead = new Set<string>();
    const isDead = ({ links }: Use): boolean => links.some((link) => dead.has(link));
    const addWays = async (): Promise<void> => {
      const heads = uses.filter((use) => use.at === 0 && !isDead(use));
      for (let made = 0; made < 20 && heads.length > 0; made += 1) {
        let use = random.pick(heads);
        while (use.at + 1 < SERVICES) {
          use = await parts.handOn(door.url, use);
          uses.push(use);
        }
      }
    };
    await addWays();
    expect(new Set(await statusesOf(guards, uses))).toEqual(new Set([200]));

    const wrong: string[] = [];
    const notes = { acknowledged: 0, unanswered: 0, requests: uses.length };
    const expectSame = (
      where: string,
      some: readonly Use[],
      statuses: readonly unknown[],
      refused: unknown,
    ): void => {
      notes.requests += some.length;
      const bad = some.filter(
        (use, place) => statuses[place] !== (isDead(use) ? refused : refused === 401 ? 200 : true),
      );
      if (bad.length > 0) wrong.push(`${where}: ${bad.length} of ${some.length}`);
    };
    const sample = (): Use[] =>
      [true, false].flatMap((which) => {
        const some = uses.filter((use) => isDead(use) === which);
        return times(Math.min(SAMPLE, some.length), () => random.pick(some));
      });
    /** One end by a request to an instance that may die: of all sessions of a user, of a login, or of a branch. */
    const endOne = async (url: string): Promise<{ link: string; probe: Use; done: boolean } | undefined> => {
      const alive = users.filter(({ userId, uses: [use] }) => !dead.has(userId) && !isDead(use!));
      if (alive.length === 0) return undefined;
      const user = random.pick(alive);
      const use = random.pick(user.uses.filter((one) => !isDead(one)));
      const [userId, login, head] = use.links as [string, string, string];
      const kind = random.between(1, 50);
      const [link, method, path, token] =
        kind === 1
          ? [userId, 'DELETE', '/api/me/sessions', user.token]
          : kind <= 3
            ? [login, 'POST', '/api/auth/logout', user.token]
            : [head, 'POST', '/api/auth/logout', use.token];
      const answer = await clientOf(url)(method, path, { token }).catch(() => undefined);
      if (answer && ![200, 401].includes(answer.status)) wrong.push(`${path}: ${answer.status}`);
      return { link, probe: use, done: answer?.status === 200 };
    };

    for (let ended = 0, burst = 0; ended < ENDS; ended += AT_ONCE, burst += 1) {
      const [victim, other] = burst % 2 === 0 ? instances : [instances[1], instances[0]];
      const isKilled = burst % 4 !== 3;
      const ending = times(AT_ONCE, () => endOne(victim.url));
      if (isKilled) {
        await sleep(random.between(20, 200));
        await victim.kill();
        door.leadTo(other.url);
      }
      const ends = (await Promise.all(ending)).filter((end) => end !== undefined);
      for (const { link } of ends.filter(({ done }) => done)) dead.add(link);
      // What has no answer has happened, or not.
      for (const { link, probe, done } of ends) {
        if (done) notes.acknowledged += 1;
        else if (!dead.has(link)) {
          notes.unanswered += 1;
          if (!(await parts.isActive(other.url, probe))) dead.add(link);
        }
      }
      if (burst % 5 === 2) {
        const way = random.between(0, ways.length - 1);
        await operator.revoke(...ways[way]!);
        dead.add(`call from ${way}`);
        notes.acknowledged += 1;
      }
      const acknowledgedAt = performance.now();
      const atInstance = sample();
      const active = await Promise.all(atInstance.map((use) => parts.isActive(other.url, use)));
      expectSame(`${burst} at an instance`, atInstance, active, false);
      await Promise.all(guards.map((guard) => guard.untilHeard(acknowledgedAt)));
      const atGuards = sample();
      expectSame(`${burst} at guards`, atGuards, await statusesOf(guards, atGuards), 401);
      if (isKilled) await victim.start();
    }
    await Promise.all(guards.map((guard) => guard.untilHeard(performance.now())));
    expectSame('at the end', uses, await statusesOf(guards, uses), 401);
    report({ faults: ENDS, wrong: wrong.length, ...notes });
    expect(wrong).toEqual([]);
    expect(uses.some(isDead)).toBe(true);
    expect(uses.every(isDead)).toBe(false);
  },
);

interface Family {
  login: string;
  code: string;
  uses: Use[];
}

/** Two instances, a guard of each service behind a door to the second one, and a call from each service to the next. */
async function startTwo() {
  const storage = await closeAfterTest(Storage.on('mariadb'));
  const [stopped, other] = [await StoppableService.on(storage), await startAt(storage)];
  const parts = await DelegatingServices.of(storage.installation, 2);
  const operator = await closeAfterTest(operatorOf(storage.installation));
  const [from, to] = parts.services as [ServiceClient, ServiceClient];
  await operator.allow(from, to);
  const door = await closeAfterTest(Door.open(other.url));
  const guards = await Promise.all(parts.services.map((service) => FollowedGuard.of(service, door.url)));
  const exchange = (url: string, code: string): Promise<Reply> => {
    const { authorization } = from;
    return clientOf(url)('POST', '/api/auth/code/exchange', { body: { code }, headers: { authorization } });
  };
  /** A login, and the users of its one-time code: at the first service, and handed on to the second one. */
  const aFamily = async (): Promise<Family> => {
    const { token: login } = await parts.aLogin(0);
    const audience = { audience: from.name };
    const { code } = await askOf(clientOf(other.url))<{ code: string }>(
      201,
      'POST',
      '/api/auth/code',
      audience,
      login,
    );
    const use = { at: 0, token: asString((await exchange(other.url, code)).body['token']), links: [] };
    return { login, code, uses: [use, await parts.handOn(other.url, use)] };
  };
  return { stopped, other, parts, operator, door, guards, exchange, aFamily, from, to };
}

it('guards say what instances say, wherever an instance is killed in the end of a link', async () => {
  const { stopped, other, parts, operator, guards, exchange, aFamily, from, to } = await startTwo();
  const { url } = stopped.process;
  const token = await parts.anOperator();
  const body = { reason: 'a test' };
  const operate = (path: string) => () =>
    clientOf(url)('POST', `/api/operators/services/${path}`, { body, token });
  const end = ({ login }: Family) => clientOf(url)('POST', '/api/auth/logout', { token: login });
  const reuse = ({ code }: Family) => exchange(url, code);
  const disable = operate(`${to.name}/disable`);
  const revoke = operate(`${from.name}/calls/${to.name}/revoke`);
  const ends: [send: (family: Family) => Promise<Reply>, before: string[]][] = [
    [
      end,
      [
        'FOR UPDATE',
        'UPDATE sessions SET revoked_at',
        'INSERT INTO events',
        'pending_revocations',
        'COMMIT',
        PAGE_OF_FAMILY,
      ],
    ],
    [reuse, ['UPDATE sessions SET revoked_at', 'INSERT INTO events', 'COMMIT', PAGE_OF_FAMILY]],
    [disable, ['UPDATE services SET', 'INSERT INTO events', 'COMMIT']],
    [revoke, ['UPDATE service_calls', 'INSERT INTO events', 'COMMIT']],
  ];
  const wrong: unknown[] = [];
  let faults = 0;
  for (const [send, texts] of ends) {
    for (const text of texts) {
      const family = await aFamily();
      expect(await statusesOf(guards, family.uses)).toEqual([200, 200]);
      stopped.stopBefore(text);
      const answer = send(family).catch(() => undefined);
      await stopped.untilStopped();
      await stopped.process.kill();
      const isDone = (await answer) !== undefined;
      const active = await Promise.all(family.uses.map((use) => parts.isActive(other.url, use)));
      if (isDone && active.some(Boolean)) wrong.push([text, 'acknowledged, and lost']);
      await Promise.all(guards.map((guard) => guard.untilHeard(performance.now())));
      const statuses = await statusesOf(guards, family.uses);
      const expected = active.map((isActive) => (isActive ? 200 : 401));
      if (statuses.join() !== expected.join()) wrong.push([text, statuses, active]);
      await stopped.process.start();
      await operator.enable(to);
      await operator.allow(from, to);
      faults += 1;
    }
  }
  report({ faults, wrong: wrong.length });
  expect(wrong).toEqual([]);
});

it('a call that is revoked and allowed again while the database is slow revives no way', async () => {
  const { stopped, other, parts, operator, door, guards, aFamily, from, to } = await startTwo();
  const { url } = stopped.process;
  const next = await aServiceClient(parts.installation.db);
  await operator.allow(to, next);
  const reallow = async (): Promise<void> => {
    await operator.revoke(from, to);
    await operator.allow(from, to);
  };
  const hops = 'FROM service_calls';

  const [, handedOn] = (await aFamily()).uses as [Use, Use];
  stopped.stopBefore(hops);
  const introspected = parts.isActive(url, handedOn);
  await stopped.untilStopped();
  await reallow();
  stopped.process.thaw();
  expect(await introspected).toBe(false);

  const [, current] = (await aFamily()).uses as [Use, Use];
  // The first statement is that of the subject token, and the second one that of the new way.
  stopped.stopBefore(`${next.name}'`);
  const exchanged = parts.requestToken(url, 1, tokenRequest(next.name, current.token));
  await stopped.untilStopped();
  await reallow();
  stopped.process.thaw();
  const { status, text } = await exchanged;
  expect([status, JSON.parse(text)]).toMatchObject([400, { code: 'invalid_subject_token' }]);

  const ended = await aFamily();
  door.leadTo(url);
  stopped.stopBefore(hops);
  const used = guards[1]!.use(ended.uses[1]!.token);
  await stopped.untilStopped();
  await logOut(other.url, ended.login);
  const since = performance.now();
  door.leadTo(other.url);
  stopped.process.thaw();
  // It was sent before the end, and says nothing of what is sent later.
  expect([200, 401]).toContain(await used);
  await guards[1]!.untilHeard(since);
  expect(await statusesOf(guards, ended.uses)).toEqual([401, 401]);
  report({ faults: 3, wrong: 0 });
});

it.each<
  [
    fault: string,
    begin: (door: Door, guards: FollowedGuard[]) => unknown,
    end: (door: Door, guards: FollowedGuard[]) => unknown,
  ]
>([
  ['its connection is cut', (door) => door.shut(), (door) => (door.isShut = false)],
  [
    'its pages are torn',
    (_, guards) => guards.forEach((guard) => (guard.isTorn = true)),
    (_, guards) => guards.forEach((guard) => (guard.isTorn = false)),
  ],
])(
  'a guard answers 503 where %s, never 401 for what lives, and refuses afterwards what ended meanwhile',
  async (_, begin, end) => {
    const { other, door, guards, aFamily } = await startTwo();
    const [living, ended] = [await aFamily(), await aFamily()];
    const useBoth = () => statusesOf(guards, [...living.uses, ...ended.uses]);
    expect(await useBoth()).toEqual([200, 200, 200, 200]);
    begin(door, guards);
    await logOut(other.url, ended.login);
    const seen = await statusesUntilUnavailable(useBoth);
    expect([...seen].filter((status) => ![200, 503].includes(status))).toEqual([]);
    end(door, guards);
    await Promise.all(guards.map((guard) => guard.untilHeard(performance.now())));
    expect(await useBoth()).toEqual([200, 200, 401, 401]);
    report({ faults: 1, wrong: 0 });
  },
);

async function statusesUntilUnavailable(useAll: () => Promise<number[]>): Promise<Set<number>> {
  const seen = new Set<number>();
  await waitFor('each guard answers 503', hangTimeoutMs(), async () => {
    const statuses = await useAll();
    for (const status of statuses) seen.add(status);
    return statuses.every((status) => status === 503);
  });
  return seen;
}

it('an instance that is frozen for two seconds admits nothing afterwards that another one has ended', async () => {
  const { stopped, other, parts, door, guards, aFamily } = await startTwo();
  const [living, ended] = [await aFamily(), await aFamily()];
  door.leadTo(stopped.process.url);
  const useBoth = () => statusesOf(guards, [...living.uses, ...ended.uses]);
  expect(await useBoth()).toEqual([200, 200, 200, 200]);
  stopped.process.freeze();
  await logOut(other.url, ended.login);
  const since = performance.now();
  door.leadTo(other.url);
  await sleep(2000);
  stopped.process.thaw();
  const active = ended.uses.map((use) => parts.isActive(stopped.process.url, use));
  expect(await Promise.all(active)).toEqual([false, false]);
  await Promise.all(guards.map((guard) => guard.untilHeard(since)));
  expect(await useBoth()).toEqual([200, 200, 401, 401]);
  report({ faults: 1, wrong: 0 });
});

it(
  'an end on one Galera node is one on the other at once, and a guard answers 503 while nodes are frozen or killed',
  { timeout: 300_000 },
  async () => {
    const rounds = 15;
    const galera = await closeAfterTest(GaleraService.start({ nodes: 2, env: UNLIMITED }));
    const commands = await closeAfterTest(galera.commands());
    const parts = await DelegatingServices.of(galera.installation, 2);
    const [from, to] = parts.services as [ServiceClient, ServiceClient];
    const call = { caller: from.name, callee: to.name };
    const on = (turn: number) => ({
      url: galera.on(turn).url,
      changes: commands.at(turn).get(ServiceChanges),
    });
    await on(0).changes.allowCall(call, OPERATOR);
    const guards = await Promise.all(parts.services.map((service) => FollowedGuard.of(service, on(0).url)));

    await expectRounds([rounds, 4], async (round, wrong) => {
      const { token, uses } = await parts.aLogin(1);
      const [here, there] = [on(round), on(round + 1)];
      const all = [...uses, await parts.handOn(there.url, uses[0]!)];
      const activeThere = () => Promise.all(all.map((use) => parts.isActive(there.url, use)));
      expect(await activeThere()).toEqual([true, true, true]);
      await here.changes.revokeCall(call, OPERATOR);
      const belowTheCall = await activeThere();
      await logOut(here.url, token);
      const belowTheLogin = await activeThere();
      await there.changes.allowCall(call, OPERATOR);
      const answers = [belowTheCall, belowTheLogin].map((answer) => answer.join());
      if (answers.join('; ') !== 'true,true,false; false,false,false') wrong.push(answers);
    });

    const [living, ended] = [await parts.aLogin(1), await parts.aLogin(1)];
    const useBoth = () => statusesOf(guards, [...living.uses, ...ended.uses]);
    expect(await useBoth()).toEqual([200, 200, 200, 200]);
    await logOut(on(1).url, ended.token);
    await Promise.all(guards.map((guard) => guard.untilHeard(performance.now())));
    const { cluster } = galera;
    const [first, second] = [cluster.node(0), cluster.node(1)];
    const faults: [begin: () => unknown, end: () => Promise<void>][] = [
      [
        () => second.freeze(),
        async () => {
          second.thaw();
          await cluster.waitForSize(2);
        },
      ],
      [
        () => second.kill(),
        async () => {
          // Neither node has a majority without the other one.
          await first.kill();
          await cluster.bootstrap();
        },
      ],
    ];
    for (const [begin, end] of faults) {
      await begin();
      const seen = await statusesUntilUnavailable(async () => {
        const dead = await statusesOf(guards, ended.uses);
        expect(dead).not.toContain(200);
        return statusesOf(guards, living.uses);
      });
      expect(seen).not.toContain(401);
      await end();
      await waitFor('the guards decide again', hangTimeoutMs(), async () => {
        return (await useBoth()).join() === '200,200,401,401';
      });
    }
  },
);
