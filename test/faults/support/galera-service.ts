import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { CliModule } from '../../../src/cli/command/cli.module.js';
import { parseEnv } from '../../../src/config/env.js';
import { aDataSource } from '../../support/data-source.js';
import { anInstallation, type Installation } from '../../support/installation.js';
import { type Account, anAccount, anOrgOf, join, type Org } from '../../support/personas.js';
import type { Cluster, Instance, Service } from '../../support/service.js';
import type { Environment } from '../../support/service-process.js';
import { GaleraCluster } from './galera-cluster.js';
import { hostsUrl, startInstances, stopAll, Storage, through } from './deployment.js';
import { brokenInState } from './invariants.js';

interface Options {
  nodes?: number;
  /** the node that the test's own queries, and commands, are sent to */
  ownNode?: number;
  env?: Environment;
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

  static async start({ nodes, ownNode = 0, env, knowAll = false }: Options = {}): Promise<GaleraService> {
    const cluster = await GaleraCluster.start({ nodes });
    const storage = await Storage.at(cluster.node(ownNode).port);
    const ports = cluster.nodes.map(({ port }) => port);
    const urls = ports.map((own) => {
      const others = ports.filter((port) => port !== own);
      return hostsUrl(storage.installation, knowAll ? [own, ...others] : [own]);
    });
    const envs = urls.map((url) => Object.assign({ DATABASE_URL: url }, env));
    return new GaleraService(cluster, storage, await startInstances(storage.installation, envs));
  }

  get installation(): Installation {
    return this.storage.installation;
  }

  get db(): Installation['db'] {
    return this.installation.db;
  }

  on(turn: number): Instance {
    return this.instances[turn % this.instances.length]!;
  }

  /** For a command, or another instance, at the nodes in turn. */
  env(turn: number): Record<string, string> {
    const { nodes } = this.cluster;
    return through(nodes[turn % nodes.length]!.port, this.installation);
  }

  /** Instances at each of the nodes, all on a new database. @param envs of one instance each */
  async startFresh(env: Environment, envs: readonly Environment[] = []): Promise<Cluster> {
    const installation = await anInstallation({ mariadbPort: Number(new URL(this.db.url).port) });
    const instances = await startInstances(
      installation,
      this.cluster.nodes.map(({ port }, node) => ({ ...env, ...through(port, installation), ...envs[node] })),
    );
    const stop = async (): Promise<void> => {
      await stopAll(instances);
      await installation.remove();
    };
    return { instances, installation, db: installation.db, stop };
  }

  settle(): Promise<void> {
    return this.cluster.waitUntilEqual();
  }

  /** What is wrong with the state, once all nodes have the same. */
  async broken(): Promise<string[]> {
    await this.settle();
    return brokenInState(await this.storage.snapshot());
  }

  /** The services of the command line at each node, without the half second that each command takes to start. */
  async commands() {
    const nodes = await Promise.all(
      this.cluster.nodes.map(async (_, node) => {
        const env = { ...this.installation.env, ...this.env(node) };
        const dataSource = await aDataSource({ ...this.installation, env });
        const module = CliModule.forRoot(parseEnv(env), dataSource);
        const options = { logger: false, abortOnError: false } as const;
        return { dataSource, context: await NestFactory.createApplicationContext(module, options) };
      }),
    );
    return {
      at: (turn: number): Pick<INestApplicationContext, 'get'> => nodes[turn % nodes.length]!.context,
      close: () => Promise.all(nodes.map(({ dataSource }) => dataSource.destroy())),
    };
  }

  async stop(): Promise<void> {
    await stopAll(this.instances);
    await this.storage.close();
    await this.cluster.close();
  }
}

/** An organization whose owners have registered on different nodes. */
export async function twoOwners(
  on: (turn: number) => Service,
  turn: number,
): Promise<{ org: Org; owners: [Account, Account] }> {
  const [first, second] = await Promise.all([anAccount(on(turn)), anAccount(on(turn + 1))]);
  const org = await anOrgOf(first);
  await join(org, first, second, 'owner');
  return { org, owners: [first, second] };
}
