import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { idsOf } from '../../database/statements.js';
import { newEntityId } from '../../identifiers/entity-id.js';
import {
  differenceBegan,
  InstancesRepository,
  lastingDifference,
  type LiveInstance,
} from './instances.repository.js';
import { KeyRing, type SigningKeys } from './signing-keys.js';

const PERIOD_MS = 15_000;
const STOP_TIMEOUT_MS = 1000;

/** Finds instances with other signing keys, which reject the access tokens of this one. */
@Injectable()
export class Heartbeat implements BeforeApplicationShutdown {
  private readonly logger = new Logger('Tokens');
  private readonly id = newEntityId();
  private compared: SigningKeys | undefined;
  private nextAt = 0;
  private running: Promise<void> = Promise.resolve();
  private stopping = false;
  degraded = false;
  /** The first of the live instances does what one of them has to do. */
  isFirst = false;

  constructor(
    private readonly instances: InstancesRepository,
    private readonly keys: KeyRing,
  ) {}

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
    const deletion = ended.then(() => this.instances.delete(this.id)).catch(() => undefined);
    await Promise.race([deletion, sleep(STOP_TIMEOUT_MS, undefined, { ref: false })]);
  }

  private async compare(keys: SigningKeys): Promise<void> {
    if (this.stopping) return;
    const live = await this.writeRow(keys);
    this.isFirst = live[0]?.id === this.id;
    const since = differenceBegan(live) ?? null;
    const isNew = live.some(({ differsSince }) => differsSince !== since);
    if (isNew) await this.instances.setDiffersSince(idsOf(live), since);
    this.report(lastingDifference(live));
    await this.instances.deleteDead();
    this.compared = keys;
    this.nextAt = performance.now() + PERIOD_MS;
  }

  private async writeRow(keys: SigningKeys): Promise<LiveInstance[]> {
    const prints = keys.map(({ thumbprint }) => thumbprint);
    const keySet = prints.toSorted().join(' ');
    await this.instances.update(this.id, keySet);
    const live = await this.instances.findLive();
    if (live.some(({ id }) => id === this.id)) return live;
    await this.instances.insert(this.id, hostname(), keySet);
    return this.instances.findLive();
  }

  private report(difference: string[]): void {
    const isDegraded = difference.length > 0;
    if (isDegraded === this.degraded) return;
    this.degraded = isDegraded;
    if (isDegraded) {
      const msg = 'instances have different signing keys: copy JWT_KEYS_FILE to all machines';
      this.logger.warn({ msg, instances: difference });
    } else this.logger.log('all instances have the same signing keys again');
  }
}
