import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { report } from './support/figures.js';
import type { FloodReport } from './support/limiter-flood.js';

it('two million e-mails keep the limiter below its memory limit, without blocking the event loop', async () => {
  const script = join(import.meta.dirname, 'support/limiter-flood.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [script]);
  const flood = JSON.parse(stdout) as FloodReport;
  console.info(flood);
  expect(flood.peakMiB - flood.bareMiB).toBeLessThan(256);
  expect(flood.longestPauseMs).toBeLessThan(1000);
  expect(flood.wronglyRefused).toBe(0);
  // Eviction spares the most recent keys: of 12 more requests of the last email, whose limit is 10, one was made before.
  expect(flood.admittedOfLast).toBe(9);
  report({ requests: flood.keys, wrong: 0, longestAnswerMs: flood.longestPauseMs });
});
