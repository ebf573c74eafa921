/**
 * Runs by itself, in a process of its own, beside the built service: gives the in-memory limiter two million emails
 * and prints what that cost as one line of JSON.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { builtModule } from './built-module.ts';

const { SlidingWindowStore } = await builtModule<
  typeof import('../../../src/rate-limits/sliding-window-store.js')
>('rate-limits/sliding-window-store.js');
const { rateLimitKey } = await builtModule<typeof import('../../../src/rate-limits/rate-limit-store.js')>(
  'rate-limits/rate-limit-store.js',
);

const RULE = { name: 'login', limit: 10, windowMs: 15 * 60 * 1000 };
const store = new SlidingWindowStore();
const rssMiB = (): number => process.memoryUsage.rss() / 2 ** 20;

async function isAdmitted(index: number): Promise<boolean> {
  const key = rateLimitKey('login', '192.0.2.1', `somebody.${index}@example.com`);
  return (await store.admit([{ ...RULE, key }])).admitted;
}

const bareMiB = rssMiB();
const report = {
  keys: 2_000_000,
  bareMiB,
  peakMiB: bareMiB,
  longestPauseMs: 0,
  admittedOfLast: 0,
  wronglyRefused: 0,
};
export type FloodReport = typeof report;

let last = performance.now();
setInterval(() => {
  const now = performance.now();
  report.longestPauseMs = Math.max(report.longestPauseMs, now - last);
  last = now;
  report.peakMiB = Math.max(report.peakMiB, rssMiB());
}, 5).unref();

for (let index = 0; index < report.keys; index += 1) {
  if (!(await isAdmitted(index))) report.wronglyRefused += 1;
  // As many requests as an event loop takes in one turn when it is flooded.
  if (index % 200 === 0) await nextTurn();
}
for (let again = 0; again < 12; again += 1) {
  if (await isAdmitted(report.keys - 1)) report.admittedOfLast += 1;
}
report.peakMiB = Math.max(report.peakMiB, rssMiB());
console.log(JSON.stringify(report));
