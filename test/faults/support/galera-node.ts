import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { RowDataPacket } from 'mysql2/promise';
import { requireProgram } from '../../../tooling/processes/find-program.js';
import { ServerProcess } from '../../../tooling/processes/server-process.js';
import { freePort } from '../../../tooling/servers/free-port.js';
import {
  commonArgs,
  durability,
  waitUntilAnswering,
  withConnection,
} from '../../../tooling/servers/mariadb.js';
import type { RunAs } from '../../../tooling/servers/mariadb-data.js';

const run = promisify(execFile);

/** What all nodes of a cluster have in common. */
export interface GaleraSettings {
  readonly name: string;
  readonly provider: string;
  readonly runAs: RunAs | undefined;
  readonly nodes: readonly GaleraNode[];
}

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

export type GaleraPorts = Record<'sql' | 'group' | 'incremental' | 'snapshot', number>;

/** One `mariadbd` of a Galera cluster; kill, stop, freeze and thaw are those of its process. */
export class GaleraNode extends ServerProcess {
  constructor(
    private readonly index: number,
    directory: string,
    private readonly ports: GaleraPorts,
    private readonly cluster: GaleraSettings,
  ) {
    super(`galera:${index}`, directory);
  }

  get port(): number {
    return this.ports.sql;
  }

  get groupAddress(): string {
    return `127.0.0.1:${this.ports.group}`;
  }

  get url(): string {
    return `mysql://root@127.0.0.1:${this.port}/test`;
  }

  execute(sql: string): Promise<unknown> {
    return withConnection(this.port, async (connection) => (await connection.query(sql))[0]);
  }

  /** All `wsrep_%` status variables. */
  status(): Promise<Map<string, string>> {
    return withConnection(this.port, async (connection) => {
      const [rows] = await connection.query<RowDataPacket[]>("SHOW GLOBAL STATUS LIKE 'wsrep_%'");
      return new Map(rows.map((row) => [String(row['Variable_name']), String(row['Value'])]));
    });
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
    const { stdout, stderr } = await run(requireProgram('mariadbd'), [...this.args(), '--wsrep-recover'], {
      ...this.cluster.runAs,
    });
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
      `--wsrep-cluster-address=gcomm://${this.cluster.nodes.map((node) => node.groupAddress).join(',')}`,
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

export async function nodePorts(): Promise<GaleraPorts> {
  return {
    sql: await freePort(),
    group: await freePort(),
    incremental: await freePort(),
    snapshot: await freePort(),
  };
}

// A node that is killed while it receives a copy leaves the copying daemon behind, in a process group of its own.
export function endStateTransfer(node: GaleraNode): void {
  const pidFile = join(node.directory, 'data', 'rsync_sst.pid');
  if (!existsSync(pidFile)) return;
  try {
    process.kill(Number(readFileSync(pidFile, 'utf8').trim()), 'SIGTERM');
  } catch {
    // It has ended by itself.
  }
}
