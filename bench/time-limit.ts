import type { Options } from './options.ts';

/** Nothing takes as long as this unless a server has stopped to answer, or the machine is hopeless. */
const MINUTES = { baseline: 20, growth: 45, feed: 20, workers: 15, client: 15 };
const MIN_REQUESTS_PER_SECOND = 100;

/** Ends the benchmark with an error when it does not end by itself. */
export function limitTime(mode: Options['mode']): void {
  const minutes =
    mode.table === 'soak' ? 10 + mode.requests / MIN_REQUESTS_PER_SECOND / 60 : MINUTES[mode.table];
  setTimeout(() => {
    process.stderr.write(`Not finished after ${Math.ceil(minutes)} minutes: given up\n`);
    process.exit(1);
  }, minutes * 60_000).unref();
}
