import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { newEntityId } from '../identifiers/entity-id.js';
import { FeedRepository } from './feed.repository.js';
import { inFeedOrder, Revisions, type Unnumbered } from './feed-order.js';
import { PendingMarks } from './pending-marks.js';
import { UnnumberedEventsRepository } from './unnumbered-events.repository.js';

export interface Round {
  /** the newest place of the feed */
  last: number;
  /** false if everything that was committed before the round began is in the feed */
  mayHaveMore: boolean;
}

/** Events for one round. No page of the feed is longer, so that a full round fills any page. */
export const EVENTS_AT_ONCE = 1000;
/** SQLite binds at most 32,766 values. */
const MAX_PLACES = 10_000;
/** after so many lost rounds of a backlog, another one goes on */
const MAX_LOST = 10;
const MAX_JITTER_MS = 20;

// Any process may number, at any moment, and stop anywhere: the primary key of the feed decides who gave the next places.
// No transaction lasts over two of these statements, and no clock decides.
@Injectable()
export class Numbering {
  constructor(
    private readonly feed: FeedRepository,
    private readonly unnumbered: UnnumberedEventsRepository,
    private readonly marks: PendingMarks,
  ) {}

  async round(): Promise<Round> {
    let seen: Set<string> | undefined;
    for (let lost = 0; ; lost += 1) {
      // Before the look at the events: whoever numbers between the two takes the places that this round tries.
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

  /** The first place has no event: it is a cursor while there is none, and no copy of the database has the same. */
  private async begin(): Promise<number> {
    await this.feed.append(0, [newEntityId()]);
    return 1;
  }

  private async find(): Promise<{ events: Unnumbered[]; isCut: boolean }> {
    const events = await this.unnumbered.findOldest(EVENTS_AT_ONCE);
    const isCut = events.length >= EVENTS_AT_ONCE;
    // A clock that is ahead, or behind, can have put an earlier change beyond the cut.
    for (let isWhole = !isCut; !isWhole;) {
      const revisions = new Revisions(events);
      const later = (await this.unnumbered.findLater(events)).filter((event) => revisions.goBeyond(event));
      events.push(...later);
      isWhole = later.length === 0 || new Revisions(events).subjects === revisions.subjects;
    }
    return { events, isCut };
  }

  /** A part of many that was given places is in order by itself. */
  private async append(last: number, events: readonly Unnumbered[]): Promise<boolean> {
    for (let from = 0; from < events.length; from += MAX_PLACES) {
      const ids = events.slice(from, from + MAX_PLACES).map(({ id }) => id);
      if (!(await this.feed.append(last + from, ids))) return false;
      this.marks.clear(ids);
    }
    return true;
  }
}
