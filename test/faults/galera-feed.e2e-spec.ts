import { afterAll, beforeAll, expect, it } from 'vitest';
import { times } from '../support/at-once.js';
import { aheadBy } from '../support/clock.js';
import { type Account, anAccount } from '../support/personas.js';
import type { Instance } from '../support/service.js';
import { aServiceClient } from '../support/services.js';
import { faultsOfReaders } from './support/feed-faults.js';
import { FeedReader } from './support/feed-reader.js';
import { report } from './support/figures.js';
import { GaleraService, twoOwners } from './support/galera-service.js';
import { UNLIMITED } from './support/restartable-service.js';

const ORGS = 4;
const CHANGES = 100;

/** Each instance knows its own node only. */
let galera: GaleraService;

beforeAll(async () => {
  // Or the order of ids, by one clock, would nearly be that of the changes.
  const envs = [{}, { NODE_OPTIONS: aheadBy(1000) }];
  galera = await GaleraService.start({ nodes: 2, env: UNLIMITED, envs });
});
afterAll(() => galera.stop());

const on = (turn: number): Instance => galera.on(turn);

it('readers at both nodes hear what two owners of each organization change on both nodes at once', async () => {
  const { db } = galera.installation;
  const billing = await aServiceClient(db, ['events']);
  await galera.cluster.waitUntilEqual();
  const readers = galera.instances.flatMap(({ url }) =>
    times(2, () => new FeedReader(billing.authorization, url)),
  );
  for (const reader of readers) reader.begin();

  const teams = await Promise.all(times(ORGS, (turn) => twoOwners(galera, turn)));
  await galera.cluster.waitUntilEqual();
  const statuses = new Map<number, number>();
  const count = (status: number): unknown => statuses.set(status, (statuses.get(status) ?? 0) + 1);
  await Promise.all(
    teams.flatMap(({ org, owners }) =>
      owners.map(async (owner, place) => {
        const member = await anAccount(on(place));
        for (let turn = 0; turn < CHANGES; turn += 1) {
          count(await change(owner.at(on(place)), member, `/api/orgs/${org.id}`, turn));
        }
      }),
    ),
  );
  for (const reader of readers) await reader.end();
  await galera.cluster.waitUntilEqual();

  const faults = await faultsOfReaders(db, billing.name, readers);
  const requests = 2 * ORGS * CHANGES;
  const acknowledged = (statuses.get(200) ?? 0) + (statuses.get(201) ?? 0);
  report({ faults: 0, requests, acknowledged, wrong: faults.length, lost: 0 });
  expect(faults).toEqual([]);
  for (const { ids } of readers) expect(ids).toEqual(readers[0]!.ids);
  expect(acknowledged).toBeGreaterThan(requests / 2);
  expect(readers[0]!.heard.length).toBeGreaterThanOrEqual(acknowledged);
});

async function change(owner: Account, member: Account, path: string, turn: number): Promise<number> {
  const moves = [
    () => owner.post(`${path}/members`, { email: member.email, role: 'member' }),
    () => owner.patch(`${path}/members/${member.id}`, { role: 'admin' }),
    () => owner.patch(path, { name: `${turn} ${owner.id}` }),
    () => owner.delete(`${path}/members/${member.id}`),
  ];
  return (await moves[turn % moves.length]!()).status;
}
