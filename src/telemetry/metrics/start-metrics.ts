import cluster from 'node:cluster';
import type { Logger } from 'pino';
import type { Env } from '../../config/env.js';
import { listenForScrapes } from './exporter.js';

/** Measures this process; the first of several answers for all workers. Loads nothing without METRICS_PORT. */
export async function startMetrics(env: Env, workers: number, log: Logger): Promise<void> {
  if (env.metricsPort === undefined) return;
  const place = { host: env.metricsHost, port: env.metricsPort };
  const { measure } = await import('./instruments.js');
  const { reportToPrimary, WorkerReports } = await import('./worker-reports.js');
  if (cluster.isWorker) return reportToPrimary(measure());

  const { Registry } = await import('prom-client');
  const reports = workers > 1 ? new WorkerReports() : measure();
  const url = await listenForScrapes(place, Registry.PROMETHEUS_CONTENT_TYPE, () => reports.metrics());
  log.info({ msg: 'metrics', metrics: url });
}
