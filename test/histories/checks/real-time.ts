import type { Timing } from '../history.js';
import type { OrgLog } from './org-log.js';
import { countAtMost } from './sorted.js';

type Span = Pick<Timing, 'startedAt' | 'endedAt'>;

/** An operation that has shown a revision of an organization to a client. */
export interface Shown extends Span {
  revision: number;
  /** whether the operation made the revision */
  isChange: boolean;
}

/** The order that clients saw: what has ended before something else begins comes before it. */
export class RealTime {
  private readonly ends: number[];
  /** the greatest revision that was shown until each of the ends */
  private readonly shown: number[];
  private readonly begins: number[];
  /** the smallest revision that was made from each of the begins on */
  private readonly made: number[];

  constructor(operations: readonly Shown[]) {
    const byEnd = operations.toSorted((one, other) => one.endedAt - other.endedAt);
    this.ends = byEnd.map(({ endedAt }) => endedAt);
    let most = 0;
    this.shown = byEnd.map(({ revision }) => (most = Math.max(most, revision)));

    const byBegin = operations
      .filter(({ isChange }) => isChange)
      .toSorted((one, other) => one.startedAt - other.startedAt);
    this.begins = byBegin.map(({ startedAt }) => startedAt);
    let least = Infinity;
    this.made = byBegin
      .toReversed()
      .map(({ revision }) => (least = Math.min(least, revision)))
      .toReversed();
  }

  /** The greatest revision that a client was shown before that time; 0 before the first one. */
  shownBefore(time: number): number {
    return this.shown[countAtMost(this.ends, time) - 1] ?? 0;
  }

  /**
   * The revisions that an operation can have seen: from the latest that was shown before it began until the first that a
   * later change made. The first one stands for those before the next event.
   */
  revisionsFor({ startedAt, endedAt }: Span, log: OrgLog): number[] {
    const least = this.shownBefore(startedAt);
    const end = this.made[countAtMost(this.begins, endedAt)] ?? Infinity;
    const [from, to] = [countAtMost(log.revisions, least), countAtMost(log.revisions, end - 1)];
    return [least, ...log.revisions.slice(from, to)];
  }
}
