import { Injectable } from '@nestjs/common';
import type { Event } from './event.entity.js';
import { CursorExpiredError } from './events.errors.js';
import { FeedRepository, type Placed } from './feed.repository.js';
import { Rounds } from './feed-rounds.js';

/** The place before the oldest event that is kept. */
export const START = 'start';
/** The next events are looked for by so many, once nobody wanted those of a first look. */
const PLACES_AT_ONCE = 1000;

export interface FeedPage {
  events: Event[];
  /** place after the last one examined, or START */
  next: string;
}

export interface PageRequest {
  after: string;
  limit: number;
  isWanted: (event: Event) => boolean;
  /** ends the search for a page that nobody wants any more */
  signal: AbortSignal;
}

@Injectable()
export class FeedPages {
  constructor(
    private readonly feed: FeedRepository,
    private readonly rounds: Rounds,
  ) {}

  /** The place from which a reader hears of everything that is committed later. */
  async end(): Promise<string> {
    await this.rounds.begin();
    // A restore can have emptied it since.
    return (await this.feed.findLast())?.eventId ?? this.end();
  }

  /** A page that is not full has everything that was committed before the call, up to `last`. @throws CursorExpiredError */
  async read(request: PageRequest): Promise<{ page: FeedPage; last: number }> {
    const page = { events: [], next: request.after };
    const isEnough = (): boolean => page.events.length >= request.limit || request.signal.aborted;
    // A page that the numbered events fill needs no round.
    await this.extend(page, request);
    while (!isEnough()) {
      const { last, mayHaveMore } = await this.rounds.begin();
      await this.extend(page, request);
      if (!mayHaveMore) return { page, last };
    }
    return { page, last: this.rounds.last };
  }

  /** Reads on, to the end of the feed or of the page, without a round. @throws CursorExpiredError */
  async extend(page: FeedPage, { limit, isWanted, signal }: PageRequest): Promise<void> {
    // The feed begins with a place of no event, and others can have lost theirs: that they are missing is no gap.
    let isBeginning = page.next === START;
    for (let size = limit; !signal.aborted; size = PLACES_AT_ONCE) {
      const found = await this.findAfter(page.next, size);
      for (const placed of found) {
        const event = eventAt(placed);
        if (event === undefined && !isBeginning) throw new CursorExpiredError();
        isBeginning &&= event === undefined;
        page.next = placed.place;
        if (event !== undefined && isWanted(event)) page.events.push(event);
        if (page.events.length >= limit) return;
      }
      if (found.length < size) return;
    }
  }

  private async findAfter(place: string, limit: number): Promise<Placed[]> {
    if (place === START) return this.feed.findFirst(limit);
    const found = await this.feed.findAfter(place, limit);
    // It may have been deleted, with events behind it.
    if (!found) throw new CursorExpiredError();
    return found;
  }
}

function eventAt(placed: Placed): Event | undefined {
  return placed.id === null ? undefined : placed;
}
