import { residentMib } from '../../tooling/processes/usage.ts';

const INTERVAL_MS = 20;

/** Starts to watch the memory of the processes; the result tells the most that was seen since. */
export function watchResident(pids: () => number[]): () => number | undefined {
  let peak = residentMib(pids());
  const look = (): void => {
    const now = residentMib(pids());
    if (now !== undefined) peak = Math.max(peak ?? 0, now);
  };
  const timer = setInterval(look, INTERVAL_MS);
  return () => {
    clearInterval(timer);
    look();
    return peak;
  };
}
