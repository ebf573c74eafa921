import { setTimeout as sleep } from 'node:timers/promises';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import type { MariaDbServer } from '../../tooling/servers/mariadb.js';
import type { GaleraCluster, GaleraNode } from '../faults/support/galera-cluster.js';
import type { Random } from '../faults/support/random.js';
import type { RestartableService } from '../faults/support/deployment.js';

interface Fault {
  name: string;
  strike: (random: Random) => Promise<void>;
}

/** Faults that come one after another, beside those of other series. */
export interface FaultSeries {
  faults: readonly Fault[];
  maxPeaceMs: number;
}

const MAX_FROZEN_MS = 2000;
/** A node that stands still for longer is taken for dead by the other one. */
const MAX_FROZEN_NODE_MS = 1000;
const MAX_DOWN_MS = 1000;

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

/** @param pick one of what may be frozen */
function freezing(
  name: string,
  pick: (random: Random) => { freeze(): unknown; thaw(): void },
  maxMs = MAX_FROZEN_MS,
): Fault {
  const strike = async (random: Random): Promise<void> => {
    const frozen = pick(random);
    await frozen.freeze();
    await sleep(random.between(1, maxMs));
    frozen.thaw();
  };
  return { name: `${name} frozen`, strike };
}

export function faultsOfInstance(service: RestartableService): FaultSeries {
  const kill = async (): Promise<void> => {
    await service.kill();
    // As a supervisor does: an instance that ends while its database is away is started again.
    await waitFor('the instance listens', hangTimeoutMs(), () => service.start().then(() => true));
  };
  const faults = [{ name: 'instance killed', strike: kill }, freezing('instance', () => service)];
  return { faults, maxPeaceMs: 3000 };
}

export function faultsOfServer(server: MariaDbServer): FaultSeries {
  const kill = async (random: Random): Promise<void> => {
    await server.kill();
    await sleep(random.between(0, MAX_DOWN_MS));
    await server.restart();
  };
  const faults = [{ name: 'database killed', strike: kill }, freezing('database', () => server)];
  return { faults, maxPeaceMs: 4000 };
}

/** The node that is left of two has no majority: it waits until an operator makes it a cluster of its own. */
export function faultsOfCluster(cluster: GaleraCluster): FaultSeries {
  const kill = async (random: Random): Promise<void> => {
    const index = random.between(0, 1);
    const victim = cluster.node(index);
    await victim.kill();
    await continueAlone(cluster.node(1 - index));
    await sleep(random.between(0, MAX_DOWN_MS));
    await victim.restart(hangTimeoutMs());
    await cluster.waitForSize(2, cluster.nodes, hangTimeoutMs());
  };
  const freeze = freezing('node', (random) => random.pick(cluster.nodes), MAX_FROZEN_NODE_MS);
  return { faults: [{ name: 'node killed', strike: kill }, freeze], maxPeaceMs: 4000 };
}

async function continueAlone(node: GaleraNode): Promise<void> {
  const isPrimary = async (): Promise<boolean> =>
    (await node.status()).get('wsrep_cluster_status') === 'Primary';
  await waitFor(`${node.name} has lost its peer`, hangTimeoutMs(), async () => {
    return (await node.status()).get('wsrep_cluster_size') === '1' || !(await isPrimary());
  });
  await node.execute("SET GLOBAL wsrep_provider_options='pc.bootstrap=YES'");
  await waitFor(`${node.name} continues alone`, hangTimeoutMs(), isPrimary);
}
