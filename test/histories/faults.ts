import { setTimeout as sleep } from 'node:timers/promises';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import type { ServerProcess } from '../../tooling/processes/server-process.js';
import type { MariaDbServer } from '../../tooling/servers/mariadb.js';
import type { GaleraCluster, GaleraNode } from '../faults/support/galera-cluster.js';
import type { Random } from '../faults/support/random.js';
import type { RestartableService } from '../faults/support/deployment.js';

/** One fault from its beginning to its repair. */
interface Fault {
  name: string;
  strike: (random: Random) => Promise<void>;
}

/** Faults that come one after another, beside those of other series. */
export interface FaultSeries {
  faults: readonly Fault[];
  /** the longest time without one */
  maxPeaceMs: number;
}

const MAX_FROZEN_MS = 2000;
/** A node that stands still for longer is taken for dead by the other one. */
const MAX_FROZEN_NODE_MS = 1000;
const MAX_DOWN_MS = 1000;
const MAX_PEACE_OF_INSTANCE_MS = 3000;
const MAX_PEACE_OF_DATABASE_MS = 4000;

/** @returns how often each fault struck until that time; by then all is repaired */
export async function strikeUntil(
  time: number,
  { faults, maxPeaceMs }: FaultSeries,
  random: Random,
): Promise<string[]> {
  const struck: string[] = [];
  let lastMs = 0;
  while (performance.now() < time) {
    // On a slow machine a repair takes long: clients have the same time without a fault.
    await sleep(lastMs + random.between(0, maxPeaceMs));
    const { name, strike } = random.pick(faults);
    const since = performance.now();
    await strike(random);
    lastMs = performance.now() - since;
    struck.push(name);
  }
  return struck;
}

export function faultsOfInstance(service: RestartableService): FaultSeries {
  const kill = async (): Promise<void> => {
    await service.kill();
    await startAgain(service);
  };
  const freeze = async (random: Random): Promise<void> => {
    process.kill(service.pid, 'SIGSTOP');
    await sleep(random.between(1, MAX_FROZEN_MS));
    process.kill(service.pid, 'SIGCONT');
  };
  return {
    faults: [
      { name: 'instance killed', strike: kill },
      { name: 'instance frozen', strike: freeze },
    ],
    maxPeaceMs: MAX_PEACE_OF_INSTANCE_MS,
  };
}

export function faultsOfServer(server: MariaDbServer): FaultSeries {
  const kill = async (random: Random): Promise<void> => {
    await server.kill();
    await sleep(random.between(0, MAX_DOWN_MS));
    await server.restart();
  };
  return {
    faults: [
      { name: 'database killed', strike: kill },
      { name: 'database frozen', strike: (random) => freezeServer(server, random.between(1, MAX_FROZEN_MS)) },
    ],
    maxPeaceMs: MAX_PEACE_OF_DATABASE_MS,
  };
}

/** The node that is left of two has no majority: it waits until an operator makes it a cluster of its own. */
export function faultsOfCluster(cluster: GaleraCluster): FaultSeries {
  const kill = async (random: Random): Promise<void> => {
    const [victim, survivor] = random.pick([
      [cluster.node(0), cluster.node(1)],
      [cluster.node(1), cluster.node(0)],
    ] as const);
    await victim.kill();
    await continueAlone(survivor);
    await sleep(random.between(0, MAX_DOWN_MS));
    await victim.restart(hangTimeoutMs());
    await cluster.waitForSize(2, cluster.nodes, hangTimeoutMs());
  };
  const freeze = (random: Random): Promise<void> =>
    freezeServer(random.pick(cluster.nodes), random.between(1, MAX_FROZEN_NODE_MS));
  return {
    faults: [
      { name: 'node killed', strike: kill },
      { name: 'node frozen', strike: freeze },
    ],
    maxPeaceMs: MAX_PEACE_OF_DATABASE_MS,
  };
}

async function continueAlone(node: GaleraNode): Promise<void> {
  const isPrimary = async (): Promise<boolean> =>
    (await node.status()).get('wsrep_cluster_status') === 'Primary';
  const size = async (): Promise<string | undefined> => (await node.status()).get('wsrep_cluster_size');
  await waitFor(
    `${node.name} has lost its peer`,
    hangTimeoutMs(),
    async () => (await size()) === '1' || !(await isPrimary()),
  );
  await node.execute("SET GLOBAL wsrep_provider_options='pc.bootstrap=YES'");
  await waitFor(`${node.name} continues alone`, hangTimeoutMs(), isPrimary);
}

async function freezeServer(server: ServerProcess, forMs: number): Promise<void> {
  await server.freeze();
  await sleep(forMs);
  server.thaw();
}

/** As a supervisor does: an instance that ends while its database is away is started again. */
export async function startAgain(service: RestartableService): Promise<void> {
  await waitFor('the instance listens', hangTimeoutMs(), async () => {
    await service.start(hangTimeoutMs());
    return true;
  });
}
