import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { SchemaMigrations } from '../database/schema-migrations.js';
import { UnavailableError } from '../problems/problem.js';
import type { ReadyResponse } from './health.responses.js';

@Injectable()
export class ReadinessService implements BeforeApplicationShutdown {
  private stopping = false;

  constructor(
    private readonly dataSource: DataSource,
    private readonly migrations: SchemaMigrations,
  ) {}

  beforeApplicationShutdown(): void {
    this.stopping = true;
  }

  /** @throws UnavailableError saying which part is not ready */
  async check(): Promise<ReadyResponse> {
    if (this.stopping) throw new UnavailableError('The service is shutting down.');
    try {
      await this.dataSource.query('SELECT 1');
    } catch (error) {
      throw new UnavailableError('The database cannot be reached.', 1, error);
    }
    if (!this.migrations.upToDate) throw new UnavailableError('The schema is not up to date.');
    return { status: 'ok', database: 'ok', migrations: 'ok' };
  }
}
