import { performance } from 'node:perf_hooks';
import { availableParallelism, cpus } from 'node:os';
import { cpuMs } from '../../tooling/processes/usage.ts';

/**
 * Starts to watch the machine; the result tells which share of its processors went to programs other than
 * these since. Undefined where the system does not tell.
 */
export function watchForeignLoad(pids: number[]): () => number | undefined {
  const begun = performance.now();
  const foreignBefore = foreignMs(pids);
  return () => {
    const foreign = foreignMs(pids);
    if (foreign === undefined || foreignBefore === undefined) return undefined;
    const available = (performance.now() - begun) * availableParallelism();
    return Math.max(0, (foreign - foreignBefore) / available);
  };
}

function foreignMs(pids: number[]): number | undefined {
  const own = cpuMs(pids);
  if (own === undefined) return undefined;
  const busy = cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0);
  return busy - own;
}
