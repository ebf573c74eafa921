import { availableParallelism, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

const IDLE_TIMEOUT_MS = 30_000;
const MAX_TIMEOUT_MS = 240_000;

/** Asked before every request, while the system computes its load every five seconds. */
const LOAD_VALID_MS = 1000;

let load = { factor: 1, untilMs: 0 };

/** For waits that only end what hangs: the busier the machine, the longer. */
export function hangTimeoutMs(): number {
  const nowMs = performance.now();
  if (nowMs >= load.untilMs) {
    const [wantACore = 0] = loadavg();
    load = { factor: Math.max(1, wantACore / availableParallelism()), untilMs: nowMs + LOAD_VALID_MS };
  }
  return Math.min(MAX_TIMEOUT_MS, Math.ceil(IDLE_TIMEOUT_MS * load.factor));
}

/** Rejects with an error that names what did not happen in time. */
export async function within<T>(what: string, timeoutMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, failed) => {
    timer = setTimeout(() => failed(new Error(`${what}: not within ${Math.round(timeoutMs)} ms`)), timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Polls until `probe` gives a value other than `undefined` or `false`; errors count as "not yet". */
export async function waitFor<T>(
  what: string,
  timeoutMs: number,
  probe: () => T | undefined | false | Promise<T | undefined | false>,
  pauseMs = 50,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  let last: unknown;
  do {
    try {
      const value = await probe();
      if (value !== undefined && value !== false) return value;
    } catch (error) {
      last = error;
    }
    await sleep(pauseMs);
  } while (performance.now() < deadline);
  throw new Error(`${what}: not within ${Math.round(timeoutMs)} ms`, { cause: last });
}
