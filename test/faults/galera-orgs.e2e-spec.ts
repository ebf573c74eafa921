import { afterAll, beforeAll, expect, it } from 'vitest';
import type { DataSource } from 'typeorm';
import type { Answer } from '../support/answer.js';
import { accounts } from '../support/accounts-command.js';
import { atOnce } from '../support/at-once.js';
import { anOrgPurge } from '../support/clean-up.js';
import { raceWithDeletion } from '../support/deletion-race.js';
import { aDataSource } from '../support/data-source.js';
import { type Account, anAccount, anOrgOf, join } from '../support/personas.js';
import type { Instance } from '../support/service.js';
import { report } from './support/figures.js';
import { GaleraService, twoOwners } from './support/galera-service.js';
import { through } from './support/instance.js';
import { brokenInState } from './support/invariants.js';

const NO_LIMITS = { RATE_LIMIT_LOGIN: 'off', RATE_LIMIT_REGISTER: 'off', RATE_LIMIT_LOOKUP: 'off' };
const AHEAD_MS = 31 * 86_400_000;

type Move = (who: Account, other: Account, org: string) => Promise<Answer>;

const MOVES: Move[] = [
  (who, other, org) => who.patch(`${org}/members/${other.id}`, { role: 'member' }),
  (who, other, org) => who.delete(`${org}/members/${other.id}`),
  (who, _, org) => who.post(`${org}/leave`),
  (who, other, org) => who.post(`${org}/transfer`, { userId: other.id }),
  (who, other, org) => who.post(`${org}/transfer`, { userId: other.id, leave: true }),
  (who) => who.delete('/api/me', { password: who.password }),
];

/** Each instance knows its own node only. */
let galera: GaleraService;

beforeAll(async () => {
  galera = await GaleraService.start({ nodes: 2, env: NO_LIMITS });
});
afterAll(() => galera.stop());

const on = (turn: number): Instance => galera.on(turn);

async function broken(): Promise<string[]> {
  await galera.cluster.waitUntilEqual();
  return brokenInState(await galera.storage.snapshot());
}

it('keeps an enabled owner, whatever two owners do at once on two nodes', async () => {
  const pairs = MOVES.flatMap((one, place) => MOVES.slice(place).map((other) => [one, other] as const));
  const wrong: string[] = [];
  const rounds = 3 * pairs.length;
  for (let round = 0; round < rounds; round += 1) {
    const { org, owners } = await twoOwners(galera, round);
    const path = `/api/orgs/${org.id}`;
    const moves = pairs[round % pairs.length]!;
    const answers = await atOnce(owners.map((owner, i) => () => moves[i]!(owner, owners[1 - i]!, path)));
    const statuses = answers.map(({ status }) => status);
    const known = statuses.every((status) => [200, 401, 403, 404, 409].includes(status));
    if (!known || !statuses.includes(200)) wrong.push(`round ${round}: ${statuses.join()}`);
  }
  wrong.push(...(await broken()));
  report({ faults: rounds, requests: 2 * rounds, wrong: wrong.length });
  expect(wrong).toEqual([]);
});

it('hands no organization over to somebody who is disabled on another node at the same moment', async () => {
  const rounds = 12;
  const wrong: string[] = [];
  const outcomes = new Set<string>();
  const began = performance.now();
  await accounts(galera.installation, ['users', 'show', 'nobody@example.com'], {
    env: through(galera.cluster.node(1).port, galera.installation),
  });
  const usualMs = performance.now() - began;
  for (let round = 0; round < rounds; round += 1) {
    const owner = await anAccount(on(0));
    const member = await anAccount(on(1));
    const org = await anOrgOf(owner);
    await join(org, owner, member, 'member');
    const disabling = accounts(galera.installation, ['users', 'disable', member.id], {
      env: through(galera.cluster.node(1).port, galera.installation),
    });
    await new Promise((resolve) => setTimeout(resolve, usualMs * (0.7 + (0.6 * round) / rounds)));
    const body = { userId: member.id, leave: true };
    const [{ status }, { code }] = await Promise.all([
      owner.post(`/api/orgs/${org.id}/transfer`, body),
      disabling,
    ]);
    outcomes.add(`${status} ${code}`);
  }
  const known = new Set(['200 1', '409 0']);
  wrong.push(...[...outcomes].filter((outcome) => !known.has(outcome)), ...(await broken()));
  report({ faults: rounds, requests: 2 * rounds, wrong: wrong.length });
  expect(wrong).toEqual([]);
});

it('lets a deletion and a change of a member on another node both happen in one order', async () => {
  const rounds = 30;
  const wrong: string[] = [];
  const outsider = await anAccount(on(0));
  const changes: Move[] = [
    (who, _, org) => who.post(`${org}/members`, { email: outsider.email, role: 'member' }),
    (who, _, org) => who.post(`${org}/leave`),
    (who, _, org) => who.delete(org),
    (who, _, org) => who.patch(org, { name: 'Renamed' }),
    (who, _, org) => who.post(`${org}/restore`),
  ];
  for (let round = 0; round < rounds; round += 1) {
    const { org, owners } = await twoOwners(galera, round);
    const [alice, bob] = owners;
    const path = `/api/orgs/${org.id}`;
    const change = changes[round % changes.length]!;
    const [deletion, answer] = await atOnce([() => alice.delete(path), () => change(bob, alice, path)]);
    if (![200, 403, 404].includes(deletion!.status)) wrong.push(`deletion: ${deletion!.status}`);
    if (![200, 201, 403, 404, 409].includes(answer!.status)) wrong.push(`change: ${answer!.status}`);
  }
  wrong.push(...(await broken()));
  report({ faults: rounds, requests: 2 * rounds, wrong: wrong.length });
  expect(wrong).toEqual([]);
});

it('answers an invitation on one node and deletes its organization on another in one order', async () => {
  const rounds = 84;
  const first = new Map<string, number>();
  for (let round = 0; round < rounds; round += 1) {
    const [answering, deleting] = [on(round), on(round + 1)];
    const settle = () => galera.cluster.waitUntilEqual();
    const { db } = galera.installation;
    const outcome = await raceWithDeletion({ db, answering, deleting, round, settle });
    first.set(outcome, (first.get(outcome) ?? 0) + 1);
  }
  const wrong = [...first.keys()].filter((one) => one !== 'answer' && one !== 'deletion');
  wrong.push(...(await broken()));
  report({ faults: rounds, requests: 2 * rounds, wrong: wrong.length });
  expect(wrong).toEqual([]);
  expect(first.size).toBe(2);
});

it('restores on one node all of what another purges, or nothing', async () => {
  const rounds = 20;
  const wrong: string[] = [];
  const purging: DataSource = await aDataSource({
    ...galera.installation,
    env: {
      ...galera.installation.env,
      ...(through(galera.cluster.node(1).port, galera.installation) as Record<string, string>),
    },
  });
  for (let round = 0; round < rounds; round += 1) {
    const { org, owners } = await twoOwners(galera, 0);
    await owners[0].delete(`/api/orgs/${org.id}`);
    const now = Date.now() + AHEAD_MS;
    const [answer] = await atOnce<unknown>([
      () => owners[1].at(on(0)).post(`/api/orgs/${org.id}/restore`),
      () => anOrgPurge(purging).purgeBatch(now),
    ]);
    await galera.cluster.waitUntilEqual();
    const [row] = await galera.storage.query(
      `SELECT (SELECT COUNT(*) FROM orgs WHERE id = '${org.id}' AND deleted_at IS NULL) AS there,
         (SELECT COUNT(*) FROM members WHERE org_id = '${org.id}') AS members`,
    );
    const isRestored = (answer as Answer).status === 200;
    const found = `${Number(row!['there'])} ${Number(row!['members'])}`;
    if (found !== (isRestored ? '1 2' : '0 0')) wrong.push(`${(answer as Answer).status}: ${found}`);
  }
  await purging.destroy();
  wrong.push(...(await broken()));
  report({ faults: rounds, requests: rounds, wrong: wrong.length });
  expect(wrong).toEqual([]);
});
