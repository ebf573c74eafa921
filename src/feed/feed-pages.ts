import { Injectable } from '@nestjs/common';
import type { Event } from '../record/event.entity.js';
import { CursorExpiredError } from './feed.errors.js';
import { FeedRepository, type Placed } from './feed.repository.js';
import { Rounds } from './rounds.js';

/** The place before the oldest event that is kept. */
export const START = 'start';

export interface FeedPage {
  events: Event[];
  /** place after the last event examined: its id, or START */
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
    return (await this.feed.findLast())?.eventId ?? START;
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

  /** Reads on, to the end of the feed or of the page, without a round. */
  async extend(page: FeedPage, { limit, isWanted, signal }: PageRequest): Promise<void> {
    while (!signal.aborted) {
      const found = await this.findAfter(page.next, limit);
      for (const event of found) {
        if (!isPresent(event)) continue;
        page.next = event.id;
        if (isWanted(event)) page.events.push(event);
        if (page.events.length >= limit) return;
      }
      if (found.length < limit) return;
    }
  }

  private async findAfter(place: string, limit: number): Promise<Placed[]> {
    if (place === START) return this.feed.findFirst(limit);
    const found = await this.feed.findAfter(place, limit);
    // The place may have been deleted, with events behind it; or only events, by an operator's own statement.
    if (!found?.every(isPresent)) throw new CursorExpiredError();
    return found;
  }
}

function isPresent(event: Placed): event is Event {
  return event.id !== null;
}
