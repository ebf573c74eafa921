import cluster from 'node:cluster';
import { Logger } from '@nestjs/common';
import { loadKeyFile } from '../auth/tokens/key-file.js';
import { KeyRing } from '../auth/tokens/key-ring.js';
import { workersFor } from '../config/concurrency.js';
import type { Env } from '../config/env.js';
import { loadEnv } from '../config/load-env.js';
import { createLogger } from '../telemetry/logging/logger.js';
import { NestLogger } from '../telemetry/logging/nest-logger.js';
import { startMetrics } from '../telemetry/metrics/start-metrics.js';
import { ProcessManager } from './process-manager.js';

/** Imports the database and the service late, so that a wrong configuration is reported before. */
export async function bootstrap(): Promise<void> {
  const env = loadEnv();
  const log = await createLogger(env.logLevel);
  Logger.overrideLogger(new NestLogger(log));
  // First, so that a start without keys fails before it changes the database.
  const keys = new KeyRing(loadKeyFile(env.jwtKeysFile, env.production));
  const { workers, reason } = workersFor(env);
  await startMetrics(env, workers, log);
  if (cluster.isPrimary) {
    for (const name of env.exposedFiles) log.warn(`${name}: the mode of the file lets others read it`);
    await bringDatabaseUpToDate(env);
    await warnOfUnsafeCommits(env);
    if (reason !== undefined) log.warn(`WEB_CONCURRENCY: one process only: ${reason}`);
    if (workers > 1) return new ProcessManager(log).start(workers);
  }
  const { serve } = await import('./serve.js');
  await serve(env, keys, log);
}

async function warnOfUnsafeCommits({ database }: Env): Promise<void> {
  if (database.engine === 'sqlite') return;
  const { findUnsafeCommits } = await import('../database/mysql/unsafe-commits.js');
  for (const { host, settings, cost } of await findUnsafeCommits(database)) {
    new Logger('Database').warn({
      msg: `the settings of the database are not durable: ${cost}`,
      host,
      settings,
    });
  }
}

async function bringDatabaseUpToDate(env: Env): Promise<void> {
  const { migrate } = await import('../database/migrate.js');
  const { SCHEMA } = await import('./schema.js');
  await migrate(env, SCHEMA);
}
