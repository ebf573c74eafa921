import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { times } from '../support/at-once.js';
import { clientOf } from '../support/service-client.js';
import { closeAfterTest, startAt, Storage, through, UNLIMITED } from './support/deployment.js';
import { report } from './support/figures.js';
import { GaleraCluster } from './support/galera-cluster.js';
import { isDone } from './support/invariants.js';
import { logMemberships, MembershipStorm, stormBatches } from './support/membership-storm.js';
import { seedOfRun } from './support/random.js';

// SEED=… repeats the requests of a failed run, though not how they met: MODEL_RUNS=… tries them more often.
const RUNS = Number(process.env['MODEL_RUNS'] ?? 8);
const BATCHES = 20;
const WIDTH = 20;

interface Stage {
  storage: Storage;
  envs: object[];
  /** Resolves when what was acknowledged can be read from the storage. */
  settle: () => Promise<void>;
}

async function on(engine: 'sqlite' | 'mariadb', instances: number): Promise<Stage> {
  const storage = await closeAfterTest(Storage.on(engine));
  return { storage, envs: times(instances, () => ({})), settle: async () => undefined };
}

/** Every instance writes to a node of its own: what the conflicts of a multi-primary cluster need. */
async function onGalera(): Promise<Stage> {
  const cluster = await closeAfterTest(GaleraCluster.start());
  const storage = await closeAfterTest(Storage.at(cluster.node(0).port));
  const envs = cluster.nodes.map(({ port }) => through(port, storage.installation));
  return { storage, envs, settle: () => cluster.waitUntilEqual() };
}

it.each([
  { engine: 'sqlite', start: () => on('sqlite', 1) },
  { engine: 'mariadb, three instances', start: () => on('mariadb', 3) },
  ...(process.env['FAULTS_NIGHTLY'] === '1' ? [{ engine: 'galera, three instances', start: onGalera }] : []),
])(
  'a storm of simultaneous requests on $engine breaks no invariant',
  { timeout: 300_000 },
  async ({ engine, start }) => {
    const seed = seedOfRun(`storm on ${engine}`);
    const { storage, envs, settle } = await start();
    const urls: string[] = [];
    for (const env of envs) urls.push((await startAt(storage, { ...UNLIMITED, ...env })).url);
    await logMemberships(storage);
    const send = clientOf(...urls);
    let [storms, requests, acknowledged] = [0, 0, 0];
    const property = fc.asyncProperty(stormBatches(BATCHES, WIDTH), async (batches) => {
      storms += 1;
      const storm = new MembershipStorm(send);
      await storm.prepare(`${seed}.${storms}`);
      await storm.run(batches);
      await settle();
      expect(await storm.broken(storage)).toEqual([]);
      requests += storm.all.length;
      acknowledged += [...storm.writes, ...storm.uses].filter(isDone).length;
    });
    // What went wrong once is not found again by leaving requests out: no shrinking.
    await fc.assert(property, { seed, numRuns: RUNS, endOnFailure: true });

    console.info(engine, { storms, requests, acknowledged });
    expect(acknowledged).toBeGreaterThan(RUNS * BATCHES);
    report({ faults: storms * BATCHES, requests, wrong: 0, acknowledged, lost: 0 });
  },
);
