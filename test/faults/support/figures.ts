import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';

/** What one test has to tell; a figure that means nothing for it is left out. */
export interface Figures {
  /** how many faults of which kind, or how many rounds of a race */
  faults?: number;
  requests?: number;
  /** answers that the test's rules do not allow: must be 0 */
  wrong?: number;
  acknowledged?: number;
  /** acknowledged writes that are not there at the end: must be 0 */
  lost?: number;
  longestAnswerMs?: number;
  /** from the end of each fault to the first good answer, in milliseconds */
  recoveriesMs?: number[];
}

export type FiguresOfTest = Figures & { file: string; test: string };

export const FIGURES_FILE = 'figures.jsonl';

/** Adds the running test's figures to those of this run, for the table in test/faults/RESULTS.md. */
export function report(figures: Figures): void {
  const { currentTestName = '', testPath = '' } = expect.getState();
  const line: FiguresOfTest = { file: testPath, test: currentTestName, ...figures };
  const directory = process.env['FAULT_RESULTS'];
  if (directory !== undefined) appendFileSync(join(directory, FIGURES_FILE), `${JSON.stringify(line)}\n`);
}

/**
 * Runs a race so often, each time with so many requests, and requires that no round adds to `wrong`.
 *
 * @param atLast what is wrong after all rounds
 */
export async function expectRounds(
  [rounds, requests]: [rounds: number, requestsOfEach: number],
  race: (round: number, wrong: unknown[]) => Promise<void>,
  atLast: () => Promise<unknown[]> = async () => [],
): Promise<void> {
  const wrong: unknown[] = [];
  for (let round = 0; round < rounds; round += 1) await race(round, wrong);
  wrong.push(...(await atLast()));
  report({ faults: rounds, requests: requests * rounds, wrong: wrong.length });
  expect(wrong).toEqual([]);
}
