import { type BeforeApplicationShutdown, Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { BreachedPasswords } from '../auth/passwords/breached-passwords.js';
import { KeySetComparison } from '../auth/tokens/key-set-comparison.js';
import { isSchemaUpToDate } from '../database/migrate.js';
import { storageSpace } from '../database/transactions/database-errors.js';
import { Mails } from '../mail/mails.js';
import { UnavailableError } from '../problems/problem.js';
import { RATE_LIMIT_STORE, type RateLimitStore } from '../rate-limits/rate-limit-store.js';
import type { Readiness } from './health.responses.js';

@Injectable()
export class ReadinessService implements BeforeApplicationShutdown {
  private stopping = false;

  constructor(
    private readonly dataSource: DataSource,
    @Inject(RATE_LIMIT_STORE) private readonly rateLimits: RateLimitStore,
    private readonly mails: Mails,
    private readonly breached: BreachedPasswords,
    private readonly keySets: KeySetComparison,
  ) {}

  beforeApplicationShutdown(): void {
    this.stopping = true;
  }

  /** @throws UnavailableError naming a part without which the instance cannot serve; other faults only degrade it */
  async check(): Promise<Readiness> {
    if (this.stopping) throw new UnavailableError('This instance is shutting down.');
    const mail = (await this.checkDatabase()) ? 'degraded' : 'ok';
    const rateLimits = this.rateLimits.degraded ? 'degraded' : 'ok';
    const database = storageSpace.isFull ? 'full' : 'ok';
    const breachCheck = this.breached.degraded ? 'degraded' : 'ok';
    const keys = this.keySets.degraded ? 'degraded' : 'ok';
    const isFine = [mail, rateLimits, database, breachCheck, keys].every((state) => state === 'ok');
    const status = isFine ? 'ok' : 'degraded';
    return { status, database, migrations: 'ok', rateLimits, mail, breachCheck, keys };
  }

  private async checkDatabase(): Promise<boolean> {
    try {
      if (await isSchemaUpToDate(this.dataSource)) return await this.mails.areDelayed();
    } catch (error) {
      throw new UnavailableError('The database cannot be reached.', 1, error);
    }
    throw new UnavailableError('The schema is not up to date.');
  }
}
