import type { DetailRead, LogRead, OrgChange, Timed, Violation } from '../history.js';
import { broken } from './changes.js';
import type { OrgLog } from './org-log.js';
import type { RealTime } from './real-time.js';

/** A change has a greater revision than all that was shown before it began. */
export function changesOutOfOrder(
  made: ReadonlyMap<Timed<OrgChange>, number>,
  realTime: RealTime,
): Violation[] {
  return [...made].flatMap(([change, revision]) => {
    const shown = realTime.shownBefore(change.startedAt);
    if (revision > shown) return [];
    const text = `a change has revision ${revision}, and revision ${shown} was shown before it began`;
    return [broken('change_out_of_order', text, [change])];
  });
}

/** A read shows no older revision than a read or change that ended before it began. */
export function staleDetails(reads: readonly Timed<DetailRead>[], realTime: RealTime): Violation[] {
  return reads.flatMap((read) => {
    const shown = realTime.shownBefore(read.startedAt);
    if (!read.seen || read.seen.revision >= shown) return [];
    const text = `a read shows revision ${read.seen.revision}, and revision ${shown} was shown before it began`;
    return [broken('stale_read', text, [read])];
  });
}

/** A page of the audit log has every change that was acknowledged before, and skips none. */
export function brokenLogReads(
  reads: readonly Timed<LogRead>[],
  log: OrgLog,
  realTime: RealTime,
): Violation[] {
  return reads.flatMap((read) => {
    if (!read.seen) return [];
    const newest = read.seen.events[0]?.revision ?? 0;
    const possible = realTime.revisionsFor(read, log);
    const least = possible[0]!;
    if (newest < (log.revisions.findLast((revision) => revision <= least) ?? 0)) {
      const text = `the audit log ends with revision ${newest}, and revision ${least} was shown before the read began`;
      return [broken('stale_read', text, [read])];
    }
    const wanted = log.events
      .filter(({ revision }) => revision <= newest)
      .toReversed()
      .slice(0, read.limit);
    const ids = read.seen.events.map(({ id }) => id);
    if (ids.join() === wanted.map(({ id }) => id).join()) return [];
    return [broken('log_with_gaps', `the audit log that ends with revision ${newest} skips events`, [read])];
  });
}
