import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { endStateTransfer, GaleraNode, nodePorts, type GaleraSettings } from './galera-node.js';
import { removeDirectory, temporaryDirectory } from '../../../tooling/processes/at-exit.js';
import { createDataDirectory, type RunAs } from '../../../tooling/servers/mariadb-data.js';
import { waitFor } from '../../../tooling/wait.js';

const run = promisify(execFile);

const PROVIDERS = [
  '/usr/lib/galera/libgalera_smm.so',
  '/usr/lib/libgalera_smm.so',
  '/usr/lib64/galera-4/libgalera_smm.so',
  '/usr/lib64/galera/libgalera_smm.so',
];

/** A real Galera cluster on 127.0.0.1; every node has its own temporary directory and ports. */
export class GaleraCluster implements GaleraSettings {
  readonly nodes: GaleraNode[] = [];
  readonly name = `test-${randomUUID().slice(0, 8)}`;
  private readonly directory = temporaryDirectory('galera');

  private constructor(
    readonly provider: string,
    readonly runAs: RunAs | undefined,
  ) {}

  static async start({ nodes = 3 } = {}): Promise<GaleraCluster> {
    const provider = findProvider();
    if (!provider) throw new Error('the Galera provider library (galera-4) is not installed');
    const cluster = new GaleraCluster(provider, await serverUser());
    if (cluster.runAs) chownSync(cluster.directory, cluster.runAs.uid, cluster.runAs.gid);
    try {
      await cluster.prepareNodes(nodes);
      await cluster.bootstrap();
    } catch (error) {
      await cluster.close();
      throw error;
    }
    return cluster;
  }

  node(index: number): GaleraNode {
    const node = this.nodes[index];
    if (!node) throw new Error(`the cluster has no node ${index}`);
    return node;
  }

  /** Starts all nodes, none of which may be running: first the one with the most data, then those that join it. */
  async bootstrap(): Promise<void> {
    const positions = await Promise.all(this.nodes.map((node) => node.position()));
    const first = this.node(positions.indexOf(Math.max(...positions)));
    const rest = this.nodes.filter((node) => node !== first);
    await first.begin(true);
    await first.waitUntilSynced();
    await Promise.all(rest.map((node) => node.begin(false)));
    await Promise.all(rest.map((node) => node.waitUntilSynced()));
    await this.waitForSize(this.nodes.length);
  }

  /** Until every node of `among` (default: all that run) sees a primary component of `size` nodes and is synced. */
  async waitForSize(
    size: number,
    among = this.nodes.filter((node) => node.isRunning),
    timeoutMs = 30_000,
  ): Promise<void> {
    await waitFor(`the cluster has ${size} nodes`, timeoutMs, async () => {
      const states = await Promise.all(among.map((node) => node.status()));
      return states.every(
        (status) =>
          status.get('wsrep_cluster_status') === 'Primary' &&
          status.get('wsrep_cluster_size') === String(size) &&
          status.get('wsrep_local_state_comment') === 'Synced',
      );
    });
  }

  /** The tests' own reads do not wait for what another node has committed. */
  async waitUntilEqual(): Promise<void> {
    await waitFor('all nodes have the same data', 10_000, async () => {
      const states = await Promise.all(this.nodes.map((node) => node.status()));
      return new Set(states.map((status) => status.get('wsrep_last_committed'))).size === 1;
    });
  }

  /** Cuts one node off from the others: it stays up, is not primary, and answers queries with errno 1047. */
  async isolate(node: GaleraNode): Promise<void> {
    await node.execute("SET GLOBAL wsrep_provider_options='gmcast.isolate=1'");
    await waitFor(`${node.name} is not primary`, 15_000, async () => {
      return (await node.status()).get('wsrep_cluster_status') !== 'Primary';
    });
  }

  async heal(node: GaleraNode): Promise<void> {
    await node.execute("SET GLOBAL wsrep_provider_options='gmcast.isolate=0'");
    await this.waitForSize(this.nodes.filter((one) => one.isRunning).length);
  }

  async close(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.kill()));
    for (const node of this.nodes) endStateTransfer(node);
    removeDirectory(this.directory);
  }

  // All nodes begin with copies of one node that was a cluster by itself: equal data and an equal position in the
  // storage engine, so that the first start needs no full copy between nodes.
  private async prepareNodes(count: number): Promise<void> {
    const directories = Array.from({ length: count }, (_, index) => join(this.directory, String(index)));
    for (const [index, directory] of directories.entries()) {
      mkdirSync(directory);
      this.nodes.push(new GaleraNode(index, directory, await nodePorts(), this));
    }
    const seed = this.node(0);
    await createDataDirectory(seed.directory, this.runAs);
    await seed.begin(true);
    await seed.waitUntilSynced();
    await seed.execute('CREATE DATABASE IF NOT EXISTS test');
    await seed.stop();
    const data = join(seed.directory, 'data');
    for (const directory of directories.slice(1)) {
      if (this.runAs) chownSync(directory, this.runAs.uid, this.runAs.gid);
      await run('cp', ['-pR', data, join(directory, 'data')]);
      const state = join(directory, 'data', 'grastate.dat');
      writeFileSync(
        state,
        readFileSync(state, 'utf8').replace('safe_to_bootstrap: 1', 'safe_to_bootstrap: 0'),
      );
    }
  }
}

export function findProvider(): string | undefined {
  return [process.env['GALERA_PROVIDER'] ?? '', ...PROVIDERS].find((path) => path !== '' && existsSync(path));
}

/** Servers that are started by root run as the user `mysql`, who then owns what the state transfer copies. */
async function serverUser(): Promise<RunAs | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const id = async (flag: string): Promise<number> => Number((await run('id', [flag, 'mysql'])).stdout);
  return { uid: await id('-u'), gid: await id('-g') };
}
