import type { Installation } from '../../support/installation.js';
import { type Account, anAccount, anOrgOf, join, type Org } from '../../support/personas.js';
import type { Instance } from '../../support/service.js';
import type { Environment } from '../../support/service-process.js';
import { GaleraCluster } from './galera-cluster.js';
import { hostsUrl, startInstances, stopAll } from './instance.js';
import { Storage } from './storage.js';

interface Options {
  nodes?: number;
  /** the node that the test's own queries, and commands, are sent to */
  ownNode?: number;
  /** of every instance */
  env?: Environment;
  /** of one instance each */
  envs?: readonly Environment[];
  /** every instance knows all nodes, its own first; else only its own */
  knowAll?: boolean;
}

/** The service on a Galera cluster, with one instance for each node. */
export class GaleraService {
  private constructor(
    readonly cluster: GaleraCluster,
    readonly storage: Storage,
    readonly instances: readonly Instance[],
  ) {}

  static async start({
    nodes,
    ownNode = 0,
    env,
    envs: envsOfOne = [],
    knowAll = false,
  }: Options = {}): Promise<GaleraService> {
    const cluster = await GaleraCluster.start({ nodes });
    const storage = await Storage.at(cluster.node(ownNode).port);
    const ports = cluster.nodes.map(({ port }) => port);
    const urls = ports.map((own) => {
      const others = ports.filter((port) => port !== own);
      return hostsUrl(storage.installation, knowAll ? [own, ...others] : [own]);
    });
    const envs = urls.map((url, place) => Object.assign({ DATABASE_URL: url }, env, envsOfOne[place]));
    return new GaleraService(cluster, storage, await startInstances(storage.installation, envs));
  }

  get installation(): Installation {
    return this.storage.installation;
  }

  /** Instances in turn. */
  on(turn: number): Instance {
    return this.instances[turn % this.instances.length]!;
  }

  async stop(): Promise<void> {
    await stopAll(this.instances);
    await this.storage.close();
    await this.cluster.close();
  }
}

/** An organization whose owners have registered on different nodes. */
export async function twoOwners(
  galera: GaleraService,
  turn: number,
): Promise<{ org: Org; owners: [Account, Account] }> {
  const [first, second] = await Promise.all([anAccount(galera.on(turn)), anAccount(galera.on(turn + 1))]);
  const org = await anOrgOf(first);
  await join(org, first, second, 'owner');
  return { org, owners: [first, second] };
}
