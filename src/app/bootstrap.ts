import cluster, { type Worker } from 'node:cluster';
import { Logger } from '@nestjs/common';
import type { Logger as PinoLogger } from 'pino';
import { loadKeyFile } from '../auth/tokens/key-file.js';
import { KeyRing } from '../auth/tokens/signing-keys.js';
import { type Env, loadEnv, workersFor } from '../config/env.js';
import { startWarnings } from '../config/warnings.js';
import { createLogger, NestLogger } from '../telemetry/logging/logger.js';
import { startMetrics } from '../telemetry/metrics/start-metrics.js';

/** Imports the database late, so that Accounts reports a wrong configuration first. */
export async function bootstrap(): Promise<void> {
  const env = loadEnv();
  const log = await createLogger(env.logLevel);
  Logger.overrideLogger(new NestLogger(log));
  // A start without keys must fail before it changes the database.
  const keys = new KeyRing(loadKeyFile(env.jwtKeysFile, env.production));
  const { workers } = workersFor(env);
  await startMetrics(env, workers, log);
  if (cluster.isPrimary) {
    for (const warning of startWarnings(env)) log.warn(warning);
    await bringDatabaseUpToDate(env);
    await warnOfUnsafeCommits(env);
    if (workers > 1) return new ProcessManager(log).start(workers);
  }
  const { serve } = await import('./serve.js');
  await serve(env, keys, log);
}

async function warnOfUnsafeCommits({ database }: Env): Promise<void> {
  if (database.engine === 'sqlite') return;
  const { findUnsafeCommits } = await import('../database/mysql/mysql-server.js');
  for (const { cost, ...settings } of await findUnsafeCommits(database)) {
    const msg = `the settings of the database are not durable: ${cost}`;
    new Logger('Database').warn({ msg, ...settings });
  }
}

async function bringDatabaseUpToDate(env: Env): Promise<void> {
  const { migrate } = await import('../database/migrate.js');
  const { SCHEMA } = await import('./schema.js');
  await migrate(env, SCHEMA);
}

const INITIAL_BACKOFF_MS = 1000;
const MAX_BACKOFF_MS = 30_000;

export class ProcessManager {
  private listened = false;
  private stopping = false;
  private readonly pauses = new Set<NodeJS.Timeout>();

  constructor(private readonly log: PinoLogger) {}

  start(count: number): void {
    process.on('SIGTERM', () => this.stop('SIGTERM', 0));
    process.on('SIGINT', () => this.stop('SIGINT', 0));
    this.log.info({ msg: 'starting workers', workers: count });
    for (let started = 0; started < count; started += 1) this.fork(INITIAL_BACKOFF_MS);
  }

  private fork(pauseMs: number): void {
    try {
      this.watch(cluster.fork(), pauseMs);
    } catch (error) {
      this.replace({ err: error }, pauseMs);
    }
  }

  private watch(worker: Worker, pauseMs: number): void {
    let pause = pauseMs;
    worker.once('listening', () => {
      this.listened = true;
      pause = INITIAL_BACKOFF_MS;
    });
    const { pid } = worker.process;
    worker.once('exit', (code, signal) => this.replace({ pid, code, signal }, pause));
    worker.on('error', (error) => {
      // If the process was not created, no exit event follows.
      if (pid === undefined) this.replace({ err: error }, pause);
      else this.log.warn({ msg: 'a worker cannot be reached', pid, err: error });
    });
  }

  private replace(ended: object, pauseMs: number): void {
    if (this.stopping) return;
    if (!this.listened) return this.stop('SIGTERM', 1);
    this.log.error({ msg: 'a worker ended and will be replaced', ...ended, pauseMs });
    const pause = setTimeout(() => {
      this.pauses.delete(pause);
      this.fork(Math.min(pauseMs * 2, MAX_BACKOFF_MS));
    }, pauseMs);
    this.pauses.add(pause);
  }

  private stop(signal: NodeJS.Signals, exitCode: number): void {
    if (this.stopping) return;
    this.stopping = true;
    process.exitCode = exitCode;
    for (const pause of this.pauses) clearTimeout(pause);
    for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill(signal);
  }
}
