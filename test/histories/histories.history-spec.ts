import { expect, it } from 'vitest';
import { seedOfRun } from '../faults/support/random.js';
import { violationsIn } from './checks/check.js';
import { report, rulesOf } from './report.js';
import { runOn } from './run.js';
import { SET_UPS } from './set-ups.js';

const SECONDS = Number(process.env['HISTORIES_SECONDS'] ?? 60);

// SEED repeats what clients choose and which faults strike, but not how they meet.
it.each(SET_UPS)(
  'clients on $name see a history that Accounts promises',
  { timeout: SECONDS * 1000 + 900_000 },
  async ({ name, start }) => {
    const seed = seedOfRun(`histories on ${name}`);
    const run = await runOn(await start(), seed, SECONDS);
    const violations = violationsIn(run);
    report(name, run, violations);
    expect(rulesOf(violations)).toEqual({});
    expect(run.operations.length).toBeGreaterThan(0);
  },
);
