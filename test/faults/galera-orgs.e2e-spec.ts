import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { accounts } from '../support/accounts-command.js';
import type { Answer } from '../support/answer.js';
import { atOnce, times } from '../support/at-once.js';
import { anOrgPurge } from '../support/clean-up.js';
import { aheadBy } from '../support/clock.js';
import { aDataSource } from '../support/data-source.js';
import { raceWithDeletion } from '../support/deletion-race.js';
import { type Account, anAccount, anOrgOf, join } from '../support/personas.js';
import type { Instance, Service } from '../support/service.js';
import { aServiceClient } from '../support/services.js';
import { closeAfterAll, closeAfterTest, UNLIMITED } from './support/deployment.js';
import { faultsOfReaders } from './support/feed-faults.js';
import { FeedReader } from './support/feed-reader.js';
import { report, expectRounds } from './support/figures.js';
import { GaleraService, twoOwners } from './support/galera-service.js';

const AHEAD_MS = 31 * 86_400_000;
const ORGS = 4;
const CHANGES = 100;

type Move = (who: Account, other: Account, org: string) => Promise<Answer>;

const leave: Move = (who, _, org) => who.post(`${org}/leave`);

const MOVES: Move[] = [
  (who, other, org) => who.patch(`${org}/members/${other.id}`, { role: 'member' }),
  (who, other, org) => who.delete(`${org}/members/${other.id}`),
  leave,
  (who, other, org) => who.post(`${org}/transfer`, { userId: other.id }),
  (who, other, org) => who.post(`${org}/transfer`, { userId: other.id, leave: true }),
  (who) => who.delete('/api/me', { password: who.password }),
];

/** Each instance knows its own node only. */
const galera = await closeAfterAll(GaleraService.start({ nodes: 2, env: UNLIMITED }));
const on = (turn: number): Instance => galera.on(turn);
const broken = (): Promise<string[]> => galera.broken();

it('keeps an enabled owner, whatever two owners do at once on two nodes', async () => {
  const pairs = MOVES.flatMap((one, place) => MOVES.slice(place).map((other) => [one, other] as const));
  const race = async (round: number, wrong: unknown[]): Promise<void> => {
    const { org, owners } = await twoOwners(on, round);
    const path = `/api/orgs/${org.id}`;
    const moves = pairs[round % pairs.length]!;
    const answers = await atOnce(owners.map((owner, i) => () => moves[i]!(owner, owners[1 - i]!, path)));
    const statuses = answers.map(({ status }) => status);
    const known = statuses.every((status) => [200, 401, 403, 404, 409].includes(status));
    if (!known || !statuses.includes(200)) wrong.push(`round ${round}: ${statuses.join()}`);
  };
  await expectRounds([3 * pairs.length, 2], race, broken);
});

it('hands no organization over to somebody who is disabled on another node at the same moment', async () => {
  const rounds = 12;
  const began = performance.now();
  await accounts(galera.installation, ['users', 'show', 'nobody@example.com'], { env: galera.env(1) });
  const usualMs = performance.now() - began;
  const race = async (round: number, wrong: unknown[]): Promise<void> => {
    const [owner, member] = [await anAccount(on(0)), await anAccount(on(1))];
    const org = await anOrgOf(owner);
    await join(org, owner, member, 'member');
    const disabling = accounts(galera.installation, ['users', 'disable', member.id], { env: galera.env(1) });
    await sleep(usualMs * (0.7 + (0.6 * round) / rounds));
    const transfer = owner.post(`/api/orgs/${org.id}/transfer`, { userId: member.id, leave: true });
    const [{ status }, { code }] = await Promise.all([transfer, disabling]);
    const outcome = `${status} ${code}`;
    if (!['200 1', '409 0'].includes(outcome)) wrong.push(outcome);
  };
  await expectRounds([rounds, 2], race, broken);
});

it('lets a deletion and a change of a member on another node both happen in one order', async () => {
  const outsider = await anAccount(on(0));
  const changes: Move[] = [
    (who, _, org) => who.post(`${org}/members`, { email: outsider.email, role: 'member' }),
    leave,
    (who, _, org) => who.delete(org),
    (who, _, org) => who.patch(org, { name: 'Renamed' }),
    (who, _, org) => who.post(`${org}/restore`),
  ];
  const race = async (round: number, wrong: unknown[]): Promise<void> => {
    const {
      org,
      owners: [alice, bob],
    } = await twoOwners(on, round);
    const path = `/api/orgs/${org.id}`;
    const change = changes[round % changes.length]!;
    const [deletion, answer] = await atOnce([() => alice.delete(path), () => change(bob, alice, path)]);
    if (![200, 403, 404].includes(deletion!.status)) wrong.push(`deletion: ${deletion!.status}`);
    if (![200, 201, 403, 404, 409].includes(answer!.status)) wrong.push(`change: ${answer!.status}`);
  };
  await expectRounds([30, 2], race, broken);
});

it('answers an invitation on one node and deletes its organization on another in one order', async () => {
  const first = new Set<string>();
  const { db } = galera;
  const settle = () => galera.settle();
  const race = async (round: number, wrong: unknown[]): Promise<void> => {
    const [answering, deleting] = [on(round), on(round + 1)];
    const outcome = await raceWithDeletion({ db, answering, deleting, round, settle });
    if (outcome !== 'answer' && outcome !== 'deletion') wrong.push(outcome);
    first.add(outcome);
  };
  await expectRounds([84, 2], race, broken);
  expect(first.size).toBe(2);
});

it('restores on one node all of what another purges, or nothing', async () => {
  const { installation } = galera;
  const env = { ...installation.env, ...galera.env(1) };
  const purging = await aDataSource({ ...installation, env });
  const race = async (_: number, wrong: unknown[]): Promise<void> => {
    const { org, owners } = await twoOwners(on, 0);
    await owners[0].delete(`/api/orgs/${org.id}`);
    const restoring = owners[1].at(on(0));
    const purge = anOrgPurge(purging);
    const now = Date.now() + AHEAD_MS;
    const [{ status }] = await Promise.all([
      restoring.post(`/api/orgs/${org.id}/restore`),
      purge.purgeBatch(now),
    ]);
    await galera.settle();
    const [row] = await galera.db.query(
      `SELECT (SELECT COUNT(*) FROM orgs WHERE id = ? AND deleted_at IS NULL) AS there,
         (SELECT COUNT(*) FROM members WHERE org_id = ?) AS members`,
      [org.id, org.id],
    );
    const found = `${Number(row!['there'])} ${Number(row!['members'])}`;
    if (found !== (status === 200 ? '1 2' : '0 0')) wrong.push(`${status}: ${found}`);
  };
  await expectRounds([20, 1], race, broken);
  await purging.destroy();
});

it('readers at both nodes hear what two owners of each organization change on both nodes at once', async () => {
  // Or the order of ids, by one clock, would nearly be that of the changes.
  const envs = [{}, { NODE_OPTIONS: aheadBy(1000) }];
  const { db, instances } = await closeAfterTest(galera.startFresh(UNLIMITED, envs));
  const at = (turn: number): Service => instances[turn % 2]!;
  const billing = await aServiceClient(db, ['events']);
  await galera.settle();
  const readers = instances.flatMap(({ url }) => times(2, () => new FeedReader(billing.authorization, url)));
  for (const reader of readers) reader.begin();

  const teams = await Promise.all(times(ORGS, (turn) => twoOwners(at, turn)));
  await galera.settle();
  let acknowledged = 0;
  await Promise.all(
    teams.flatMap(({ org, owners }) =>
      owners.map(async (owner, place) => {
        const member = await anAccount(at(place));
        for (let turn = 0; turn < CHANGES; turn += 1) {
          const status = await nextChange(owner.at(at(place)), member, `/api/orgs/${org.id}`, turn);
          if (status === 200 || status === 201) acknowledged += 1;
        }
      }),
    ),
  );
  for (const reader of readers) await reader.end();
  await galera.settle();

  const faults = await faultsOfReaders(db, billing.name, readers);
  const requests = 2 * ORGS * CHANGES;
  report({ faults: 0, requests, acknowledged, wrong: faults.length, lost: 0 });
  expect(faults).toEqual([]);
  for (const { ids } of readers) expect(ids).toEqual(readers[0]!.ids);
  expect(acknowledged).toBeGreaterThan(requests / 2);
  expect(readers[0]!.heard.length).toBeGreaterThanOrEqual(acknowledged);
});

async function nextChange(owner: Account, member: Account, path: string, turn: number): Promise<number> {
  const moves = [
    () => owner.post(`${path}/members`, { email: member.email, role: 'member' }),
    () => owner.patch(`${path}/members/${member.id}`, { role: 'admin' }),
    () => owner.patch(path, { name: `${turn} ${owner.id}` }),
    () => owner.delete(`${path}/members/${member.id}`),
  ];
  return (await moves[turn % moves.length]!()).status;
}
