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
  /** writes answered with success */
  acknowledged?: number;
  /** acknowledged writes that are not there at the end: must be 0 */
  lost?: number;
  /** the longest wait for one answer, in milliseconds */
  longestAnswerMs?: number;
  /** from the end of each fault to the first good answer, in milliseconds */
  recoveriesMs?: number[];
}

export interface FiguresOfTest extends Figures {
  file: string;
  test: string;
}

export const FIGURES_FILE = 'figures.jsonl';

/** Adds the running test's figures to those of this run, for the table in docs/reliability.md. */
export function report(figures: Figures): void {
  const { currentTestName = '', testPath = '' } = expect.getState();
  const line: FiguresOfTest = { file: testPath, test: currentTestName, ...figures };
  const directory = process.env['FAULT_RESULTS'];
  if (directory !== undefined) appendFileSync(join(directory, FIGURES_FILE), `${JSON.stringify(line)}\n`);
}
