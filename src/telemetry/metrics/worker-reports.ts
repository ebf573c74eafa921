import cluster, { type Worker } from 'node:cluster';
import {
  AggregatorRegistry,
  type MetricObjectWithValues,
  type MetricValue,
  type Registry,
} from 'prom-client';

type Report = MetricObjectWithValues<MetricValue<string>>[];

interface ReportRequest {
  type: 'accounts:report-metrics';
}

interface ReportAnswer {
  type: 'accounts:metrics';
  report: Report;
}

/** how long a scrape waits for a worker; a busier one counts with what it reported before */
const ANSWER_TIMEOUT_MS = 1000;

export function reportToPrimary(registry: Registry): void {
  process.on('message', (message: ReportRequest) => {
    if (message.type === 'accounts:report-metrics') void answer(registry);
  });
}

async function answer(registry: Registry): Promise<void> {
  const message: ReportAnswer = { type: 'accounts:metrics', report: await registry.getMetricsAsJSON() };
  // A primary process that has ended wants no answer.
  if (process.connected) process.send?.(message, undefined, {}, () => undefined);
}

// Adds up all workers in the primary process. What an ended worker counted stays counted, or Prometheus would take the
// smaller sum for a restart and count what the others have done again.
export class WorkerReports {
  private readonly latest = new Map<number, Report>();
  private past: Report = [];
  private readonly waiting = new Map<number, () => void>();

  constructor() {
    cluster.on('message', (worker, message: ReportAnswer) => {
      if (message.type === 'accounts:metrics') this.take(worker, message.report);
    });
    cluster.on('exit', (worker) => this.keepCounted(worker));
  }

  async metrics(): Promise<string> {
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
    await Promise.all(workers.map((worker) => this.ask(worker)));
    return AggregatorRegistry.aggregate([this.past, ...this.latest.values()]).metrics();
  }

  private async ask(worker: Worker): Promise<void> {
    if (!worker.isConnected()) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ANSWER_TIMEOUT_MS);
    this.waiting.set(worker.id, resolve);
    const request: ReportRequest = { type: 'accounts:report-metrics' };
    worker.send(request, (error) => error && resolve());
    await promise;
    clearTimeout(timer);
  }

  private take(worker: Worker, report: Report): void {
    if (!worker.isDead()) this.latest.set(worker.id, report);
    this.waiting.get(worker.id)?.();
  }

  private keepCounted(worker: Worker): void {
    this.waiting.get(worker.id)?.();
    this.waiting.delete(worker.id);
    const counted = (this.latest.get(worker.id) ?? []).filter(isCounted);
    this.latest.delete(worker.id);
    this.past = AggregatorRegistry.aggregate([this.past, counted]).getMetricsAsArray() as Report;
  }
}

/** The package's types say a number, but `type` is a word. */
function isCounted({ type }: Report[number]): boolean {
  return String(type) !== 'gauge';
}
