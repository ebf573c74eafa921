// npm run test:logins -- [--seed N] [--histories K] [--known-bad]
import { parseArgs } from 'node:util';
import { Random } from '../faults/support/random.ts';
import { RULES, type Rules } from './accounts.ts';
import { runHistory } from './history.ts';
import { KNOWN_BAD } from './known-bad.ts';
import { shrink } from './shrink.ts';

const MOST_NUMBERS = 100;

const { values } = parseArgs({
  options: { seed: { type: 'string' }, histories: { type: 'string' }, 'known-bad': { type: 'boolean' } },
});
const seed = Number(values.seed ?? Date.now() % 1_000_000_000);

function drawHistory(number: number): number[][] {
  const random = new Random(seed + Math.imul(number, 0x9e3779b1));
  const drawStep = (): number[] => Array.from({ length: MOST_NUMBERS }, () => random.between(0, 99_999));
  return Array.from({ length: random.between(5, 40) }, drawStep);
}

/** Prints the shortest history that breaks an invariant, and returns whether there is one. */
async function search(title: string, rules: Rules, most: number): Promise<boolean> {
  const counts: Record<string, number> = {};
  for (let number = 1; number <= most; number += 1) {
    const steps = drawHistory(number);
    const history = await runHistory(steps, rules);
    for (const [name, count] of Object.entries(history.counts)) counts[name] = (counts[name] ?? 0) + count;
    if (!history.violation) continue;
    const { lines, violation } = await shrink(history, steps, rules);
    console.log(`${title}: found in history ${number}\n${lines.join('\n')}`);
    console.log(`${' '.repeat(14)} violates (${violation!.invariant}): ${violation!.text}`);
    return true;
  }
  const listed = Object.entries(counts).map(([name, count]) => `${name} ${count}`);
  console.log(`${title}: no violation in ${most} histories: ${listed.join(', ')}`);
  return false;
}

console.log(`seed ${seed}`);
if (values['known-bad']) {
  for (const [name, bad] of Object.entries(KNOWN_BAD))
    if (!(await search(name, { ...RULES, ...bad }, 50_000))) process.exitCode = 1;
} else if (await search('Accounts and its client', RULES, Number(values.histories ?? 5_000))) {
  process.exitCode = 1;
}
