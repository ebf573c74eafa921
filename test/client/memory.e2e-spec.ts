import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';

/** The heap that the program may have: what a mistake keeps beyond it ends the program. */
const HEAP_MIB = 200;
/** A map of 100,000 entries is copied into a larger or a smaller one now and then. */
const MOVED_MIB = 8;

interface Memory {
  empty: number;
  members: number;
  full: number;
  further: number;
}

it('remembers 100,000 members in less than 200 MiB, and no more however many events follow', () => {
  const program = join(import.meta.dirname, 'support/full-guard.ts');
  const limits = ['--expose-gc', `--max-old-space-size=${HEAP_MIB}`];
  const said = execFileSync(process.execPath, [...limits, program], { encoding: 'utf8' });
  const { empty, members, full, further } = JSON.parse(said) as Memory;

  expect(members).toBeGreaterThan(empty);
  expect(full).toBeLessThan(HEAP_MIB);
  expect(further).toBeLessThan(full + MOVED_MIB);
});
