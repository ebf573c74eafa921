import cluster, { type Worker } from 'node:cluster';
import type { Logger } from 'pino';

const PAUSE_BEFORE_REPLACING_MS = 1000;

/**
 * Keeps several processes on one port. One that ends is replaced; one that never came to listen is not, since
 * its successors would not either: then all of them end. SIGTERM and SIGINT are passed on, and this process
 * ends after the last of them.
 */
export function superviseWorkers(count: number, log: Logger): void {
  const listened = new Set<Worker>();
  let stopping = false;

  const stop = (signal: NodeJS.Signals, exitCode: number): void => {
    if (stopping) return;
    stopping = true;
    process.exitCode = exitCode;
    for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill(signal);
  };
  cluster.on('listening', (worker) => listened.add(worker));
  cluster.on('exit', (worker, code, signal) => {
    if (stopping) return;
    if (!listened.has(worker)) return stop('SIGTERM', 1);
    listened.delete(worker);
    log.error({ msg: 'a worker ended and is replaced', pid: worker.process.pid, code, signal });
    setTimeout(() => stopping || cluster.fork(), PAUSE_BEFORE_REPLACING_MS);
  });
  process.on('SIGTERM', () => stop('SIGTERM', 0));
  process.on('SIGINT', () => stop('SIGINT', 0));

  log.info({ msg: 'starting workers', workers: count });
  for (let started = 0; started < count; started += 1) cluster.fork();
}
