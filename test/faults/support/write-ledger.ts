import type { Outcome } from '../../support/load.js';

/** Which writes a client was told of, to compare with the final data (I5 and I6). */
export class WriteLedger {
  private readonly writes = new Map<string, Outcome>();

  /** To be called before the write is sent: one that is never answered stays unknown. */
  sent(key: string): void {
    this.writes.set(key, 'unknown');
  }

  answered(key: string, outcome: Outcome): void {
    this.writes.set(key, outcome);
  }

  keys(outcome: Outcome): string[] {
    return [...this.writes].filter(([, is]) => is === outcome).map(([key]) => key);
  }

  compare(present: ReadonlySet<string>): LedgerReport {
    const unknown = this.keys('unknown');
    return {
      acknowledged: this.keys('ok').length,
      lost: this.keys('ok').filter((key) => !present.has(key)),
      ghosts: this.keys('refused').filter((key) => present.has(key)),
      unknownApplied: unknown.filter((key) => present.has(key)).length,
      unknownAbsent: unknown.filter((key) => !present.has(key)).length,
    };
  }
}

export interface LedgerReport {
  acknowledged: number;
  /** Acknowledged and not there: must be empty. */
  lost: string[];
  /** Refused and there all the same: must be empty. */
  ghosts: string[];
  unknownApplied: number;
  unknownAbsent: number;
}
