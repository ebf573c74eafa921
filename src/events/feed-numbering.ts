import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { isColumnDenied } from '../database/transactions/database-errors.js';
import { Transactions } from '../database/transactions/transactions.js';
import { BATCH, type Batch, inBatches } from '../database/statements.js';
import { newEntityId } from '../identifiers/entity-id.js';
import { EventsRepository } from './events.repository.js';
import { FeedRepository, type Unnumbered } from './feed.repository.js';

function orderOf({ orgId, orgRevision, userId, userRevision }: Unnumbered) {
  if (orgRevision !== null) return { subject: `org ${orgId}`, revision: orgRevision };
  return userRevision === null ? undefined : { subject: `user ${userId}`, revision: userRevision };
}

/** Orders events by id, and so by time, but events of an organization or a user by revision, whatever the clocks say. */
export function inFeedOrder<Event extends Unnumbered>(events: readonly Event[]): Event[] {
  const ordered = events.toSorted((one, other) => (one.id < other.id ? -1 : 1));
  const indexes = Map.groupBy(ordered.keys(), (index) => orderOf(ordered[index]!)?.subject);
  for (const [subject, own] of indexes) {
    if (subject === undefined) continue;
    // The sort is stable, so ids decide within a revision, which is one transaction.
    const byRevision = own
      .map((index) => ordered[index]!)
      .toSorted((one, other) => orderOf(one)!.revision - orderOf(other)!.revision);
    for (const [index, event] of byRevision.entries()) ordered[own[index]!] = event;
  }
  return ordered;
}

export function precedingOnes(events: readonly Unnumbered[], later: readonly Unnumbered[]): Unnumbered[] {
  const highest = new Map<string, number>();
  for (const { subject, revision } of events.map(orderOf).filter((order) => order !== undefined)) {
    highest.set(subject, Math.max(revision, highest.get(subject) ?? 0));
  }
  return later.filter((event) => {
    const order = orderOf(event);
    return order !== undefined && order.revision < (highest.get(order.subject) ?? 0);
  });
}

const CLEAR_AFTER_MS = 1000;

/** Clears `pending`, so that later rounds do not read numbered events again. No round waits for it. */
@Injectable()
export class PendingMarks implements OnApplicationShutdown {
  private readonly logger = new Logger('Feed');
  private numbered: string[] = [];
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();
  private mayNotClear = false;

  constructor(
    private readonly events: EventsRepository,
    private readonly feed: FeedRepository,
    private readonly transactions: Transactions,
  ) {}

  async onApplicationShutdown(): Promise<void> {
    clearTimeout(this.timer);
    await this.running;
  }

  clearSoon(ids: readonly string[]): void {
    if (this.mayNotClear) return;
    this.numbered.push(...ids);
    if (this.timer) return;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.running = this.running.then(() => this.clearNumbered());
    }, CLEAR_AFTER_MS);
    this.timer.unref();
  }

  async clearLeft(): Promise<Batch> {
    const ids = this.mayNotClear ? [] : await this.feed.findNumberedPending(BATCH);
    return { examined: await this.clear(ids), deleted: 0 };
  }

  private async clearNumbered(): Promise<void> {
    const all = this.numbered;
    this.numbered = [];
    try {
      for await (const ids of inBatches(all)) await this.clear(ids);
    } catch (error) {
      this.logger.debug({ msg: 'numbered events keep their mark until the clean-up', err: error });
    }
  }

  private async clear(ids: readonly string[]): Promise<number> {
    if (this.mayNotClear || ids.length === 0) return 0;
    try {
      return await this.transactions.run({ principal: 'event feed' }, (tx) =>
        this.events.clearPending(tx, ids),
      );
    } catch (error) {
      if (!isColumnDenied(error)) throw error;
      this.mayNotClear = true;
      this.logger.warn(
        'the database user may not update events.pending: this process stops trying, and every event slows ' +
          'the feed down. Grant UPDATE (ip, pending)',
      );
      return 0;
    }
  }
}

export interface Round {
  last: number;
  /** false if everything that was committed before the round began is in the feed */
  mayHaveMore: boolean;
}

const EVENTS_AT_ONCE = 1000;
/** SQLite binds at most 32,766 values. */
const MAX_NUMBERED_AT_ONCE = 10_000;
const MAX_LOST = 10;
const MAX_JITTER_MS = 20;

/** Any process may number events, and stop between any two statements. The primary key of the feed decides the winner. */
@Injectable()
export class FeedNumbering {
  constructor(
    private readonly feed: FeedRepository,
    private readonly marks: PendingMarks,
  ) {}

  async round(): Promise<Round> {
    let seen: Set<string> | undefined;
    for (let lost = 0; ; lost += 1) {
      // Read it before the events, so that a process that numbers events in between takes the numbers of this round.
      const last = (await this.feed.findLast())?.seq ?? (await this.begin());
      const { events, isCut } = await this.find();
      seen ??= new Set(events.map(({ id }) => id));
      const isDone = !isCut && !events.some(({ id }) => seen!.has(id));
      if (isDone || (isCut && lost === MAX_LOST)) return { last, mayHaveMore: isCut };
      if (await this.append(last, inFeedOrder(events))) {
        return { last: last + events.length, mayHaveMore: isCut };
      }
      await sleep(Math.random() * MAX_JITTER_MS);
    }
  }

  private async begin(): Promise<number> {
    await this.feed.append(0, [newEntityId()]);
    return 1;
  }

  private async find(): Promise<{ events: Unnumbered[]; isCut: boolean }> {
    const events = await this.feed.findUnnumbered(EVENTS_AT_ONCE);
    const isCut = events.length >= EVENTS_AT_ONCE;
    // A wrong clock may have put an earlier change beyond the cut.
    if (isCut) events.push(...precedingOnes(events, await this.feed.findUnnumberedBelow(events)));
    return { events, isCut };
  }

  private async append(last: number, events: readonly Unnumbered[]): Promise<boolean> {
    for (let from = 0; from < events.length; from += MAX_NUMBERED_AT_ONCE) {
      const ids = events.slice(from, from + MAX_NUMBERED_AT_ONCE).map(({ id }) => id);
      if (!(await this.feed.append(last + from, ids))) return false;
      this.marks.clearSoon(ids);
    }
    return true;
  }
}
