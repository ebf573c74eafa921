import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { BreachedPasswords } from '../auth/passwords/breached-passwords.js';
import { Heartbeat } from '../auth/tokens/heartbeat.js';
import { clockText, type OutFor } from '../auth/tokens/instance-faults.js';
import { Env } from '../config/env.js';
import { isSchemaUpToDate } from '../database/migrate.js';
import { refusedWrites } from '../database/transactions/database-errors.js';
import { Mails } from '../mail/mails.js';
import { UnavailableError } from '../problems/problem.js';
import { RATE_LIMIT_STORE, type RateLimitStore } from '../rate-limits/rate-limit-store.js';
import { clockOffset, readyParts, userCount } from '../telemetry/metrics/measurements.js';
import { type CountedPage, UsersRepository } from '../users/users.repository.js';
import type { Readiness } from './health.responses.js';

class PendingSchemaError extends UnavailableError {}

@Injectable()
export class ReadinessService {
  private stopping = false;

  constructor(
    private readonly dataSource: DataSource,
    @Inject(RATE_LIMIT_STORE) private readonly rateLimits: RateLimitStore,
    private readonly mails: Mails,
    private readonly breached: BreachedPasswords,
    private readonly heartbeat: Heartbeat,
  ) {}

  beginStop(): void {
    this.stopping = true;
  }

  /** @throws UnavailableError naming a part without which the instance should not serve; other faults only degrade it */
  async check(): Promise<Readiness> {
    const readiness = await this.read();
    const { outFor } = this.heartbeat;
    if (outFor !== undefined) throw new UnavailableError(this.textOf(outFor));
    return readiness;
  }

  /** @throws UnavailableError naming a part without which the instance cannot serve */
  async read(): Promise<Readiness> {
    if (this.stopping) throw new UnavailableError('This instance is shutting down.');
    const mail = (await this.checkDatabase()) ? 'degraded' : 'ok';
    const { degraded, outFor } = this.heartbeat;
    const rateLimits = this.rateLimits.degraded || degraded.rateLimits ? 'degraded' : 'ok';
    const database = refusedWrites.state;
    const breachCheck = this.breached.degraded ? 'degraded' : 'ok';
    const keys = degraded.keys || outFor === 'keys' ? 'degraded' : 'ok';
    const clock = degraded.clock ? 'degraded' : 'ok';
    const isFine = [mail, rateLimits, database, breachCheck, keys, clock].every((state) => state === 'ok');
    const status = isFine ? 'ok' : 'degraded';
    return { status, database, migrations: 'ok', rateLimits, mail, breachCheck, keys, clock };
  }

  private textOf(outFor: OutFor): string {
    if (outFor === 'keys') return 'Most instances have other signing keys than this instance.';
    return `The clock of this instance is ${clockText(this.heartbeat.clockOffset!)}.`;
  }

  private async checkDatabase(): Promise<boolean> {
    try {
      if (await isSchemaUpToDate(this.dataSource)) return await this.mails.areDelayed();
    } catch (error) {
      throw new UnavailableError('The database cannot be reached.', 1, error);
    }
    throw new PendingSchemaError('The schema is not up to date.');
  }
}

const COUNT_PERIOD_MS = 300_000;
const COUNTED_AT_ONCE = 10_000;

/** Reads in the background, so that a scrape does not wait for the database. */
@Injectable()
export class HealthReadings {
  private readonly parts: Record<string, boolean> = {};
  private users: number | undefined;
  private nextCountAt = 0;

  constructor(
    private readonly readiness: ReadinessService,
    private readonly heartbeat: Heartbeat,
    private readonly rows: UsersRepository,
    private readonly env: Env,
  ) {}

  isWanted(): boolean {
    return this.env.metricsPort !== undefined;
  }

  async run(): Promise<void> {
    readyParts.read = () => this.parts;
    userCount.read = () => this.users;
    clockOffset.read = () => this.clockOffset();
    await this.readParts();
    await this.countUsers();
  }

  private clockOffset(): number | undefined {
    const { clockOffset: ms } = this.heartbeat;
    return ms === null ? undefined : ms / 1000;
  }

  /** Parts that cannot be read keep their last value. */
  private async readParts(): Promise<void> {
    try {
      const { status: _, ...states } = await this.readiness.read();
      for (const [part, state] of Object.entries(states)) this.parts[part] = state === 'ok';
    } catch (error) {
      // Without a cause, the instance is shutting down.
      if (error instanceof PendingSchemaError) this.parts['migrations'] = false;
      else if (error instanceof UnavailableError && error.cause) this.parts['database'] = false;
    }
  }

  /** One instance counts, in pages, so that no statement takes long. */
  private async countUsers(): Promise<void> {
    if (!this.heartbeat.isFirst) this.users = undefined;
    const isCounted = this.users !== undefined && performance.now() < this.nextCountAt;
    if (!this.heartbeat.isFirst || isCounted) return;
    let users = 0;
    for (let last: string | null = ''; last !== null;) {
      const page: CountedPage = await this.rows.countAfter(last, COUNTED_AT_ONCE);
      users += page.counted;
      last = page.last;
      await yieldToEventLoop();
    }
    this.users = users;
    this.nextCountAt = performance.now() + COUNT_PERIOD_MS;
  }
}
