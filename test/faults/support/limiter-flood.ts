/**
 * Runs by itself, in a process of its own, beside the built service: gives the in-memory limiter two million emails
 * and prints what that cost as one line of JSON.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Admission } from '../../../src/rate-limits/rate-limit-store.js';
import { builtModule } from './built-module.ts';

const { SlidingWindowStore } = (await builtModule(
  'rate-limits/sliding-window-store.js',
)) as typeof import('../../../src/rate-limits/sliding-window-store.js');
const { rateLimitKey } = (await builtModule(
  'rate-limits/rate-limit-store.js',
)) as typeof import('../../../src/rate-limits/rate-limit-store.js');

export interface FloodReport {
  keys: number;
  bareMiB: number;
  peakMiB: number;
  longestPauseMs: number;
  /** of 12 more requests of the last email, whose limit is 10: must be 9, one was made before */
  admittedOfLast: number;
  /** the same emails refused before their limit: must be 0 */
  wronglyRefused: number;
}

const KEYS = 2_000_000;
/** as many requests as an event loop takes in one turn when it is flooded */
const PER_TURN = 200;
const RULE = { name: 'login', limit: 10, windowMs: 15 * 60 * 1000 };

const rssMiB = (): number => process.memoryUsage.rss() / 2 ** 20;
const admit = (index: number): Promise<Admission> =>
  store.admit([{ ...RULE, key: rateLimitKey('login', '192.0.2.1', `somebody.${index}@example.com`) }]);

const bareMiB = rssMiB();
let peakMiB = bareMiB;
let longestPauseMs = 0;
let last = performance.now();
setInterval(() => {
  const now = performance.now();
  longestPauseMs = Math.max(longestPauseMs, now - last);
  last = now;
  peakMiB = Math.max(peakMiB, rssMiB());
}, 5).unref();

const store = new SlidingWindowStore();
let wronglyRefused = 0;
for (let index = 0; index < KEYS; index += 1) {
  if (!(await admit(index)).admitted) wronglyRefused += 1;
  if (index % PER_TURN === 0) await nextTurn();
}

let admittedOfLast = 0;
for (let again = 0; again < 12; again += 1) {
  if ((await admit(KEYS - 1)).admitted) admittedOfLast += 1;
}
peakMiB = Math.max(peakMiB, rssMiB());
const report: FloodReport = { keys: KEYS, bareMiB, peakMiB, longestPauseMs, admittedOfLast, wronglyRefused };
console.log(JSON.stringify(report));
