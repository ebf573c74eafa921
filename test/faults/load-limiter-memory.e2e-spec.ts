import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { report } from './support/figures.js';
import type { FloodReport } from './support/limiter-flood.js';

const CAP_MIB = 256;
const MAX_PAUSE_MS = 1000;

it('two million e-mails keep the limiter below its memory limit, without blocking the event loop', async () => {
  const script = join(import.meta.dirname, 'support/limiter-flood.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [script]);
  const flood = JSON.parse(stdout) as FloodReport;
  console.info(flood);
  expect(flood.peakMiB - flood.bareMiB).toBeLessThan(CAP_MIB);
  expect(flood.longestPauseMs).toBeLessThan(MAX_PAUSE_MS);
  expect(flood.wronglyRefused).toBe(0);
  // Eviction spares the most recent keys.
  expect(flood.admittedOfLast).toBe(9);
  report({ requests: flood.keys, wrong: 0, longestAnswerMs: Math.round(flood.longestPauseMs) });
});
