import type { Outcome } from '../../support/load.js';

/** The writes that a client received a response to, to compare with the final data (I5 and I6). */
export class WriteLedger {
  private readonly writes = new Map<string, Outcome>();

  /** `unknown` before the write is sent: one that is never answered stays so. */
  note(key: string, outcome: Outcome): void {
    this.writes.set(key, outcome);
  }

  keys(outcome: Outcome): string[] {
    return [...this.writes].filter(([, is]) => is === outcome).map(([key]) => key);
  }

  /** Acknowledged and not there, and refused and there all the same: both must be empty. */
  compare(present: ReadonlySet<string>) {
    const lost = this.keys('ok').filter((key) => !present.has(key));
    return { lost, ghosts: this.keys('refused').filter((key) => present.has(key)) };
  }
}
