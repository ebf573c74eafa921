import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createGuard, type Guard } from '../../client/src/service/index.ts';
import { percentile } from '../../tooling/percentile.js';
import { Door } from '../client/support/door.js';
import { times } from '../support/at-once.js';
import { clientOf, type RequestOptions, type Reply, type Send } from '../support/service-client.js';
import { aServiceClient } from '../support/services.js';
import { askOf, closeAfterAll, register, RestartableService, Storage } from './support/deployment.js';
import { report } from './support/figures.js';
import { Random, seedOfRun } from './support/random.js';

const PAIRS = Number(process.env['OWN_CHANGES'] ?? 10_000);
const TEAMS = 128;
const AT_ONCE = 32;
const SERVICES = 3;
/** A balancer notices after this time that an instance does not answer. */
const NOTICED_MS = 200;
const LONGEST_FREEZE_MS = 2_500;
/** Longer than a freeze: an instance that thaws would otherwise carry out a change after the client has repeated it. */
const REQUEST_TIMEOUT_MS = 10_000;

const storage = await closeAfterAll(Storage.on('mariadb'));
const instances = [
  await closeAfterAll(RestartableService.on(storage)),
  await closeAfterAll(RestartableService.on(storage)),
] as const;
await Promise.all(instances.map((instance) => instance.start()));
const doors = await Promise.all(times(SERVICES + 1, () => closeAfterAll(Door.open(instances[0].url))));
const send = clientOf(doors[SERVICES]!.url);

async function aGuard(index: number): Promise<Guard> {
  const scopes = ['introspect', 'memberships', 'events'] as const;
  const { name, secret } = await aServiceClient(storage.installation.db, [...scopes]);
  const log = { warn: () => undefined };
  const options = { baseUrl: doors[index]!.url, credentials: { name, secret }, log };
  const guard = await closeAfterAll(createGuard({ issuer: 'accounts', audience: 'accounts', ...options }));
  await guard.ready();
  return guard;
}
const guards = await Promise.all(times(SERVICES, aGuard));

interface Team {
  orgId: string;
  owner: { token: string };
  member: { token: string; id: string; email: string };
  role: 'member' | 'admin' | 'none';
}

async function aTeam(): Promise<Team> {
  const [owner, member] = [await register(send), await register(send)];
  const org = { name: 'Engines' };
  const made = await askOf(send)<{ org: { id: string } }>(201, 'POST', '/api/orgs', org, owner.token);
  return { orgId: made.org.id, owner, member, role: 'none' };
}

/** A request that may be repeated, until it is answered. */
async function sendUntilAnswered(...[method, path, options]: Parameters<Send>): Promise<Reply> {
  for (;;) {
    const reply = await send(method, path, { ...options, timeoutMs: REQUEST_TIMEOUT_MS }).catch(
      () => undefined,
    );
    if (reply && reply.status < 500) return reply;
    await sleep(50);
  }
}

/** @returns the revision of the change, or a later one */
async function change(team: Team, role: Team['role']): Promise<number> {
  const { orgId, member, owner } = team;
  const path = `/api/orgs/${orgId}/members`;
  const { token } = owner;
  const [method, place, body]: [string, string, RequestOptions['body']?] =
    role === 'none'
      ? ['DELETE', `${path}/${member.id}`]
      : team.role === 'none'
        ? ['POST', path, { email: member.email, role }]
        : ['PATCH', `${path}/${member.id}`, { role }];
  const changed = await sendUntilAnswered(method, place, { token, body });
  // It was made by an attempt whose answer was lost.
  const isMade = changed.code === 'already_member' || changed.code === 'member_not_found';
  expect(changed.status < 300 || isMade, `${method} ${changed.status} ${changed.code}`).toBe(true);
  team.role = role;
  const { etag } =
    changed.etag === null ? await sendUntilAnswered('GET', `/api/orgs/${orgId}`, { token }) : changed;
  return Number.parseInt(etag!.slice(1), 10);
}

interface Tally {
  wrong: string[];
  tookMs: number[];
  unavailable: number;
}

/** Uses a service at once, and again while it says 503, as its client would. */
async function use(
  guard: Guard,
  { orgId, member, role }: Team,
  atLeast: number,
  tally: Tally,
): Promise<void> {
  for (;;) {
    const begun = performance.now();
    const answer = await guard.authorize(`Bearer ${member.token}`, { orgId, atLeast });
    tally.tookMs.push(performance.now() - begun);
    if (answer.ok || answer.status !== 503) {
      const seen = answer.ok ? answer.role : answer.problem.code;
      const expected = role === 'none' ? 'not_a_member' : role;
      if (seen !== expected) tally.wrong.push(`${seen} instead of ${expected} at ${atLeast}`);
      return;
    }
    tally.unavailable += 1;
    await sleep(100);
  }
}

/** Kills and freezes one instance after the other, while the doors lead to the other one. */
async function disturb(random: Random, isOver: () => boolean): Promise<number> {
  let faults = 0;
  for (; !isOver(); faults += 1) {
    const [victim, other] = faults % 2 === 0 ? instances : [instances[1], instances[0]];
    for (const door of doors) door.leadTo(victim.url);
    await sleep(random.between(200, 1_500));
    const isKilled = random.next() < 0.5;
    if (isKilled) await victim.kill();
    else victim.freeze();
    await sleep(NOTICED_MS);
    for (const door of doors) door.leadTo(other.url);
    if (isKilled) await victim.start();
    else {
      await sleep(random.between(100, LONGEST_FREEZE_MS));
      victim.thaw();
    }
  }
  return faults;
}

it(
  'a change is never missing at a service that is used at once with its revision, while instances are killed and frozen',
  { timeout: 900_000 },
  async () => {
    const random = new Random(seedOfRun('own changes'));
    const teams: Team[] = [];
    while (teams.length < TEAMS) teams.push(...(await Promise.all(times(8, aTeam))));
    const tally: Tally = { wrong: [], tookMs: [], unavailable: 0 };
    let pairs = 0;
    const work = async (own: Team[]): Promise<void> => {
      for (let turn = 0; pairs < PAIRS; turn += 1) {
        pairs += 1;
        const team = own[turn % own.length]!;
        const roles = ['none', 'member', 'admin'] as const;
        const atLeast = await change(team, random.pick(roles.filter((role) => role !== team.role)));
        await use(random.pick(guards), team, atLeast, tally);
      }
    };
    const disturbing = disturb(random, () => pairs >= PAIRS);
    await Promise.all(times(AT_ONCE, (index) => work(teams.filter((_, place) => place % AT_ONCE === index))));
    const faults = await disturbing;

    const longestAnswerMs = Math.max(...tally.tookMs);
    const [p50, p99] = [0.5, 0.99].map((share) => Math.round(percentile(tally.tookMs, share)));
    console.info(`p50 ${p50} ms, p99 ${p99} ms, ${tally.unavailable} answers of 503`);
    report({ faults, requests: PAIRS, wrong: tally.wrong.length, longestAnswerMs });
    expect(tally.wrong).toEqual([]);
  },
);
