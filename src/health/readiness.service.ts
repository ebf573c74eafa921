import { type BeforeApplicationShutdown, Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { isSchemaUpToDate } from '../database/schema-version.js';
import { UnavailableError } from '../problems/problem.js';
import { RATE_LIMIT_STORE, type RateLimitStore } from '../rate-limits/rate-limit-store.js';
import type { Readiness } from './health.responses.js';

@Injectable()
export class ReadinessService implements BeforeApplicationShutdown {
  private stopping = false;

  constructor(
    private readonly dataSource: DataSource,
    @Inject(RATE_LIMIT_STORE) private readonly rateLimits: RateLimitStore,
  ) {}

  beforeApplicationShutdown(): void {
    this.stopping = true;
  }

  /**
   * Reports missing shared rate limits, without which an instance still serves.
   * @throws UnavailableError naming the part that is not ready
   */
  async check(): Promise<Readiness> {
    if (this.stopping) throw new UnavailableError('The service is shutting down.');
    await this.checkDatabase();
    const { degraded } = this.rateLimits;
    return {
      status: degraded ? 'degraded' : 'ok',
      database: 'ok',
      migrations: 'ok',
      rateLimits: degraded ? 'degraded' : 'ok',
    };
  }

  private async checkDatabase(): Promise<void> {
    let upToDate: boolean;
    try {
      upToDate = await isSchemaUpToDate(this.dataSource);
    } catch (error) {
      throw new UnavailableError('The database cannot be reached.', 1, error);
    }
    if (!upToDate) throw new UnavailableError('The schema is not up to date.');
  }
}
