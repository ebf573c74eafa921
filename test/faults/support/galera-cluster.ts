import { execFile } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { randomUUID } from 'node:crypto';
import { requireProgram } from '../../../tooling/processes/find-program.js';
import { ServerProcess } from '../../../tooling/processes/server-process.js';
import { freePort } from '../../../client/src/free-port.ts';
import {
  commonArgs,
  durability,
  waitUntilAnswering,
  withConnection,
} from '../../../tooling/servers/mariadb.js';
import { createDataDirectory, type RunAs } from '../../../tooling/servers/mariadb-data.js';
import { removeDirectory, temporaryDirectory } from '../../../tooling/processes/at-exit.js';
import { waitFor } from '../../../tooling/wait.js';
import { asRecords } from '../../support/service-client.js';

const run = promisify(execFile);

// A dead node is noticed within about two seconds, not within Galera's five to fifteen.
const FAST_DETECTION = [
  'evs.keepalive_period=PT0.3S',
  'evs.inactive_check_period=PT0.3S',
  'evs.suspect_timeout=PT1.5S',
  'evs.inactive_timeout=PT3S',
  'evs.install_timeout=PT3S',
  'evs.join_retrans_period=PT0.3S',
  'gmcast.peer_timeout=PT2S',
];

const PORTS = ['sql', 'group', 'incremental', 'snapshot'] as const;
type GaleraPorts = Record<(typeof PORTS)[number], number>;

/** One `mariadbd` of a Galera cluster; kill, stop, freeze and thaw are those of its process. */
export class GaleraNode extends ServerProcess {
  constructor(
    private readonly index: number,
    directory: string,
    private readonly ports: GaleraPorts,
    private readonly cluster: GaleraCluster,
  ) {
    super(`galera:${index}`, directory);
  }

  get port(): number {
    return this.ports.sql;
  }

  execute(sql: string): Promise<unknown> {
    return withConnection(this.port, async (connection) => (await connection.query(sql))[0]);
  }

  async status(): Promise<Map<string, string>> {
    const rows = asRecords(await this.execute("SHOW GLOBAL STATUS LIKE 'wsrep_%'"));
    return new Map(rows.map((row) => [String(row['Variable_name']), String(row['Value'])]));
  }

  async isIn(size: number): Promise<boolean> {
    const status = await this.status();
    const [component, state] = [status.get('wsrep_cluster_status'), status.get('wsrep_local_state_comment')];
    return component === 'Primary' && state === 'Synced' && status.get('wsrep_cluster_size') === String(size);
  }

  /** Starts again on the same data and rejoins: by the missed writes when they are still cached, else by a full copy. */
  async restart(timeoutMs = 60_000): Promise<void> {
    await this.begin(false);
    await this.waitUntilSynced(timeoutMs);
  }

  /** How far its data go; -1 for a node that has none. Only while it does not run. */
  async position(): Promise<number> {
    const position = (await this.recoveredPosition()) ?? `:${/seqno:\s*(-?\d+)/.exec(this.savedState)?.[1]}`;
    return Number(position.split(':')[1]);
  }

  async begin(bootstrap: boolean): Promise<void> {
    if (bootstrap && this.savedState !== '') {
      writeFileSync(this.stateFile, this.savedState.replace('safe_to_bootstrap: 0', 'safe_to_bootstrap: 1'));
    }
    const args = [...this.args(), ...(bootstrap ? ['--wsrep-new-cluster'] : [])];
    const position = await this.recoveredPosition();
    if (position) args.push(`--wsrep-start-position=${position}`);
    this.launch({ program: requireProgram('mariadbd'), args, ...this.cluster.runAs });
  }

  async waitUntilSynced(timeoutMs = 60_000): Promise<void> {
    await waitUntilAnswering(this, this.port, timeoutMs);
    await this.waitUntil('is synced', timeoutMs, async () => {
      const status = await this.status();
      return status.get('wsrep_ready') === 'ON' && status.get('wsrep_local_state_comment') === 'Synced';
    });
  }

  /** What the storage engine holds after a crash, asked of the engine itself; undefined after a clean stop. */
  private async recoveredPosition(): Promise<string | undefined> {
    if (!/seqno:\s*-1\b/.test(this.savedState)) return undefined;
    const args = [...this.args(), '--wsrep-recover'];
    const { stdout, stderr } = await run(requireProgram('mariadbd'), args, { ...this.cluster.runAs });
    return /Recovered position:\s*([0-9a-f-]{36}:-?\d+)/.exec(stdout + stderr)?.[1];
  }

  private get stateFile(): string {
    return join(this.directory, 'data', 'grastate.dat');
  }

  private get savedState(): string {
    return existsSync(this.stateFile) ? readFileSync(this.stateFile, 'utf8') : '';
  }

  private args(): string[] {
    const { group, incremental, snapshot } = this.ports;
    return [
      ...commonArgs(this.directory, this.port),
      '--binlog-format=ROW',
      '--innodb-autoinc-lock-mode=2',
      // One killed node loses nothing: the others have it.
      ...durability(false),
      '--wsrep-on=ON',
      `--wsrep-provider=${this.cluster.provider}`,
      `--wsrep-cluster-name=${this.cluster.name}`,
      `--wsrep-cluster-address=gcomm://${this.cluster.nodes.map((node) => `127.0.0.1:${node.ports.group}`).join(',')}`,
      `--wsrep-node-name=node${this.index}`,
      `--wsrep-node-address=127.0.0.1:${group}`,
      '--wsrep-sst-method=rsync',
      `--wsrep-sst-receive-address=127.0.0.1:${snapshot}`,
      '--wsrep-slave-threads=2',
      '--wsrep-retry-autocommit=1',
      `--wsrep-provider-options=${[
        `gmcast.listen_addr=tcp://127.0.0.1:${group}`,
        `ist.recv_addr=127.0.0.1:${incremental}`,
        ...FAST_DETECTION,
        'gcache.size=32M',
        'pc.recovery=false',
      ].join(';')}`,
    ];
  }
}

// A node that is killed while it receives a copy leaves the copying daemon behind, in a process group of its own.
function endStateTransfer(node: GaleraNode): void {
  const pidFile = join(node.directory, 'data', 'rsync_sst.pid');
  if (!existsSync(pidFile)) return;
  try {
    process.kill(Number(readFileSync(pidFile, 'utf8').trim()), 'SIGTERM');
  } catch {
    // It has ended by itself.
  }
}

const PROVIDERS = ['/usr/lib/galera', '/usr/lib', '/usr/lib64/galera-4', '/usr/lib64/galera'].map(
  (folder) => `${folder}/libgalera_smm.so`,
);

/** A real Galera cluster on 127.0.0.1; every node has its own temporary directory and ports. */
export class GaleraCluster {
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

  private get running(): GaleraNode[] {
    return this.nodes.filter((node) => node.isRunning);
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
  async waitForSize(size: number, among = this.running, timeoutMs = 30_000): Promise<void> {
    await waitFor(`the cluster has ${size} nodes`, timeoutMs, async () => {
      return (await Promise.all(among.map((node) => node.isIn(size)))).every(Boolean);
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
    await this.waitForSize(this.running.length);
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
      const ports = Object.fromEntries(
        await Promise.all(PORTS.map(async (name) => [name, await freePort()] as const)),
      ) as GaleraPorts;
      this.nodes.push(new GaleraNode(index, directory, ports, this));
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
      const saved = readFileSync(state, 'utf8');
      writeFileSync(state, saved.replace('safe_to_bootstrap: 1', 'safe_to_bootstrap: 0'));
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
