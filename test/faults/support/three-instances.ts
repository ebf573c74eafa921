import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../../../client/src/free-port.ts';
import { hangTimeoutMs, waitFor } from '../../../tooling/wait.js';
import { Balancer } from './fleet.js';
import { MovableClock } from '../../support/clock.js';
import { anInstallation, type Installation } from '../../support/installation.js';
import { metricsUrl, scrape, type Scraped } from '../../support/scrape.js';
import { type Instance, launch } from '../../support/service.js';
import type { Environment } from '../../support/service-process.js';
import type { SigningKey } from '../../support/signing-keys.js';

interface Ready {
  status: number;
  body: Record<string, string>;
}

/** An instance whose clock and key file are its own, as if it ran on a machine of its own. */
export class OwnMachine {
  readonly clock = new MovableClock();

  private constructor(
    private readonly installation: Installation,
    private readonly keysFile: string,
    readonly port: number,
  ) {}

  instance: Instance;

  static async in(installation: Installation, name: string, env: Environment): Promise<OwnMachine> {
    const keysFile = join(installation.directory, `${name}.json`);
    const machine = new OwnMachine(installation, keysFile, await freePort());
    await machine.writeKeys(installation.keys);
    await machine.start(env);
    return machine;
  }

  async start(env: Environment): Promise<void> {
    const own = { JWT_KEYS_FILE: this.keysFile, NODE_OPTIONS: this.clock.option, PORT: String(this.port) };
    const all = { METRICS_PORT: '0', ...env, ...own };
    this.instance = await launch(this.installation, all).listening;
  }

  /** Replaces its key file, which lets it write and compare its row at once. */
  async give(...keys: SigningKey[]): Promise<void> {
    const before = await this.seenAt();
    await this.writeKeys(keys);
    await waitFor('its row is written', hangTimeoutMs(), async () => (await this.seenAt()) > before);
  }

  /** As if 15 seconds had passed. */
  heartbeat(): Promise<void> {
    return this.give(...this.keys);
  }

  async ready(): Promise<Ready> {
    const { status, body } = await this.instance.anyone.get<Record<string, string>>('/health/ready');
    return { status, body };
  }

  async until(what: string, isSo: (ready: Ready) => boolean): Promise<void> {
    await waitFor(what, hangTimeoutMs(), async () => isSo(await this.ready()));
  }

  async untilMetric(what: string, isSo: (scraped: Scraped) => boolean): Promise<void> {
    const url = await metricsUrl(this.instance.logs);
    await waitFor(what, hangTimeoutMs(), async () => isSo(await scrape(url)));
  }

  lines(text: string): string[] {
    return this.instance.logs.filter((line) => line.includes(text));
  }

  private keys: SigningKey[] = [];

  private async writeKeys(keys: SigningKey[]): Promise<void> {
    this.keys = keys;
    const text = JSON.stringify({ keys: keys.map(({ jwk }) => jwk) });
    await writeFile(`${this.keysFile}.new`, text, { mode: 0o600 });
    await rename(`${this.keysFile}.new`, this.keysFile);
  }

  private async seenAt(): Promise<number> {
    const sql = 'SELECT MAX(seen_at) AS at FROM instances WHERE pid = ?';
    const [row] = await this.installation.db.query(sql, [this.instance.pid]);
    return Number(row?.['at']);
  }
}

export interface ThreeInstances {
  installation: Installation;
  machines: [OwnMachine, OwnMachine, OwnMachine];
  balancer: Balancer;
  /** until HAProxy sends requests to these places only */
  untilInRotation(...places: number[]): Promise<void>;
  heartbeats(): Promise<void>;
  stop(): Promise<void>;
}

/** Three instances behind a real HAProxy with deploy/haproxy.cfg. */
export async function startThreeInstances(env: Environment): Promise<ThreeInstances> {
  const installation = await anInstallation();
  const start = (name: string) => OwnMachine.in(installation, name, env);
  const machines = await Promise.all([start('one'), start('two'), start('three')]);
  const balancer = await Balancer.before(machines);
  return {
    installation,
    machines,
    balancer,
    untilInRotation: async (...places) => {
      await waitFor(`HAProxy uses ${places.join()}`, hangTimeoutMs(), async () => {
        return (await balancer.inRotation()).join() === places.join();
      });
    },
    heartbeats: async () => void (await Promise.all(machines.map((machine) => machine.heartbeat()))),
    stop: async () => {
      await balancer.stop();
      await Promise.all(machines.map(({ instance }) => instance.stop()));
      await installation.remove();
    },
  };
}
