import { Injectable, Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Env } from '../config/env.js';

const LOCK_NAME = 'accounts:migrations';
const LOCK_WAIT_SECONDS = 60;

export class PendingMigrationsError extends Error {
  constructor() {
    super('MIGRATIONS: the schema is not up to date; start once with MIGRATIONS=run');
  }
}

/** Brings the schema to the state that this version of the code expects. */
@Injectable()
export class SchemaMigrations {
  /** true once this process has seen the schema that it expects */
  upToDate = false;
  private readonly logger = new Logger('Database');

  constructor(
    private readonly dataSource: DataSource,
    private readonly env: Env,
  ) {}

  /** @throws PendingMigrationsError when MIGRATIONS=check and something is left to run */
  async bringUpToDate(): Promise<void> {
    if (await this.dataSource.showMigrations()) {
      if (this.env.migrations === 'check') throw new PendingMigrationsError();
      const applied = await this.oneInstanceAtATime(() =>
        this.dataSource.runMigrations({ transaction: 'each' }),
      );
      for (const migration of applied) this.logger.log(`migration applied: ${migration.name}`);
    }
    this.upToDate = true;
  }

  private async oneInstanceAtATime<T>(work: () => Promise<T>): Promise<T> {
    if (this.dataSource.options.type === 'better-sqlite3') return work();

    const holder = this.dataSource.createQueryRunner();
    try {
      await holder.query(`SELECT GET_LOCK('${LOCK_NAME}', ${LOCK_WAIT_SECONDS})`);
      return await work();
    } finally {
      await holder.query(`SELECT RELEASE_LOCK('${LOCK_NAME}')`);
      await holder.release();
    }
  }
}
