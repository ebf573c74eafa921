import { expect } from 'vitest';
import type { Service } from '../../support/service.js';
import { type Figures, report } from './figures.js';
import type { MixedLoad } from './mixed-load.js';
import type { LedgerReport } from './write-ledger.js';

/** Reports what the load met, and requires that no answer was wrong and no acknowledged write is lost. */
export async function requireTruth(
  load: MixedLoad,
  db: Service['db'],
  figures: Pick<Figures, 'faults' | 'recoveriesMs'>,
): Promise<LedgerReport> {
  const ledger = await load.compare(db);
  report({
    ...figures,
    requests: load.requests,
    wrong: load.wrong.length,
    acknowledged: ledger.acknowledged,
    lost: ledger.lost.length,
    longestAnswerMs: load.longestAnswerMs,
  });
  expect(load.wrong).toEqual([]);
  expect(ledger).toMatchObject({ lost: [], ghosts: [] });
  return ledger;
}
