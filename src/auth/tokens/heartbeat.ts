import cluster from 'node:cluster';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { Env, isLimited } from '../../config/env.js';
import { idsOf } from '../../database/statements.js';
import { newEntityId } from '../../identifiers/entity-id.js';
import {
  clockText,
  differenceBegan,
  findOut,
  hostsOf,
  instancesThatCountAlone,
  isClockWrong,
  lastingDifference,
  measureOffset,
  type OutFor,
  settledOffset,
} from './instance-faults.js';
import { InstancesRepository, type LiveInstance, type OwnInstance } from './instances.repository.js';
import { KeyRing, type SigningKeys } from './signing-keys.js';

const PERIOD_MS = 15_000;
const STOP_TIMEOUT_MS = 1000;

/** What the log says when a part degrades, and when it works again. */
const TEXTS = {
  clock: [
    'the clock of this instance differs from that of the database: run chrony on both machines',
    'the clock of this instance agrees with that of the database again',
  ],
  keys: [
    'instances have different signing keys: copy JWT_KEYS_FILE to all machines',
    'all instances have the same signing keys again',
  ],
  rateLimits: [
    'this instance counts rate limits by itself, although several instances run: set REDIS_URL',
    'no other instance runs any longer',
  ],
} as const;

/** Writes the row of this instance and compares it with those of the others: keys, clocks, and their number. */
@Injectable()
export class Heartbeat implements BeforeApplicationShutdown {
  private readonly logger = new Logger('Instances');
  private readonly id = newEntityId();
  private compared: SigningKeys | undefined;
  private nextAt = 0;
  private running: Promise<void> = Promise.resolve();
  private stopping = false;
  private clockReading: number | null = null;
  /** milliseconds; null on SQLite and until the database has answered in time */
  clockOffset: number | null = null;
  readonly degraded = { clock: false, keys: false, rateLimits: false };
  private judgedAs: OutFor | undefined;
  /** The first of the live instances does what one of them has to do. */
  isFirst = false;

  constructor(
    private readonly instances: InstancesRepository,
    private readonly keys: KeyRing,
    private readonly env: Env,
  ) {}

  /** Why clients should not reach this instance. If no row can be written, the others may be gone. */
  get outFor(): OutFor | undefined {
    return performance.now() < this.nextAt + 2 * PERIOD_MS ? this.judgedAs : undefined;
  }

  /** At once after a change of the keys. */
  isDue(): boolean {
    return this.keys.all !== this.compared || performance.now() > this.nextAt;
  }

  run(): Promise<void> {
    return (this.running = this.compare(this.keys.all));
  }

  /** Not later, because the connections to the database close then. If it does not answer, the row expires. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping = true;
    const ended = this.running.catch(() => undefined);
    const deletion = ended.then(() => this.instances.delete([this.id])).catch(() => undefined);
    await Promise.race([deletion, sleep(STOP_TIMEOUT_MS, undefined, { ref: false })]);
  }

  private async compare(keys: SigningKeys): Promise<void> {
    if (this.stopping) return;
    if (this.compared === undefined) await this.deleteKilled();
    if (this.env.database.engine === 'mysql') await this.readClock();
    const live = await this.writeRow(keys);
    this.isFirst = live[0]?.id === this.id;
    const since = differenceBegan(live) ?? null;
    const isNew = live.some(({ differsSince }) => differsSince !== since);
    if (isNew) await this.instances.setDiffersSince(idsOf(live), since);
    this.judge(live);
    if (this.isFirst) await this.instances.deleteDead();
    this.compared = keys;
    this.nextAt = performance.now() + PERIOD_MS;
  }

  /** Rows of killed processes of this machine would outvote others: a process that dies again and again leaves many. */
  private async deleteKilled(): Promise<void> {
    const killed = (await this.instances.findLive()).filter(
      ({ host, pid }) => host === hostname() && (pid === process.pid || !isRunning(pid)),
    );
    if (killed.length > 0) await this.instances.delete(idsOf(killed));
  }

  private async readClock(): Promise<void> {
    const reading = await measureOffset(() => this.instances.findTime());
    if (reading === undefined) return;
    this.clockOffset = settledOffset(this.clockOffset ?? reading, this.clockReading ?? reading, reading);
    this.clockReading = reading;
  }

  private async writeRow(keys: SigningKeys): Promise<LiveInstance[]> {
    const own = this.describe(keys);
    await this.instances.update(own);
    const live = await this.instances.findLive();
    if (live.some(({ id }) => id === this.id)) return live;
    await this.instances.insert(own);
    return this.instances.findLive();
  }

  private describe(keys: SigningKeys): OwnInstance {
    const { id, clockOffset, clockReading, env } = this;
    const keySet = keys
      .map(({ thumbprint }) => thumbprint)
      .toSorted()
      .join(' ');
    const signingKey = this.keys.signing.thumbprint;
    const countsAlone = env.redisUrl === undefined && isLimited(env) ? 1 : 0;
    return {
      id,
      host: hostname(),
      pid: cluster.isWorker ? process.ppid : process.pid,
      keySet,
      signingKey,
      clockOffset,
      clockReading,
      countsAlone,
    };
  }

  private judge(live: LiveInstance[]): void {
    const difference = lastingDifference(live);
    const alone = instancesThatCountAlone(live);
    this.note('clock', isClockWrong(this) && { clock: clockText(this.clockOffset!) });
    this.note('keys', difference.length > 0 && { instances: difference });
    this.note('rateLimits', alone.some(({ id }) => id === this.id) && { hosts: hostsOf(alone) });
    const outFor = findOut(live).get(this.id);
    if (outFor === this.judgedAs) return;
    this.judgedAs = outFor;
    const msg = 'clients should not reach this instance: /health/ready returns 503';
    if (outFor === undefined) this.logger.log('clients may reach this instance again');
    else this.logger.warn({ msg, because: outFor });
  }

  private note(part: keyof typeof TEXTS, fault: object | false): void {
    const isDegraded = fault !== false;
    if (isDegraded === this.degraded[part]) return;
    this.degraded[part] = isDegraded;
    const [began, ended] = TEXTS[part];
    if (isDegraded) this.logger.warn({ msg: began, ...fault });
    else this.logger.log(ended);
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
