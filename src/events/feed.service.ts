import { Injectable } from '@nestjs/common';
import { Problem, UnavailableError } from '../problems/problem.js';
import type { ServicePrincipal } from '../access/principal.js';
import { limitOf } from '../http/pages.js';
import type { LongPoll } from '../http/deadline.js';
import type { Event } from './event.entity.js';
import { feedEvent, isDeliveredTo } from './events.service.js';
import type { FeedQuery } from './events.query.js';
import { FeedRounds } from './feed-rounds.js';
import { FeedRepository, START } from './feed.repository.js';
import type { FeedResponse } from './events.responses.js';

export const TOO_MANY_WAIT =
  'Too many requests of this service wait for events. Wait until one of them ends.';

const MAX_LONG_POLLS = 20;
const EVENTS_AT_ONCE = 1000;
const MAX_TRIES_FOR_END = 10;

interface FeedPage {
  events: Event[];
  next: string;
  last: number;
}

interface PageRequest {
  after: string;
  limit: number;
  isWanted: (event: Event) => boolean;
  signal: AbortSignal;
}

@Injectable()
export class FeedService {
  private readonly longPolls = new Map<string, number>();

  constructor(
    private readonly feed: FeedRepository,
    private readonly rounds: FeedRounds,
  ) {}

  async follow(reader: ServicePrincipal, query: FeedQuery, { gone, wait }: LongPoll): Promise<FeedResponse> {
    const { after, wait: seconds = '0' } = query;
    if (after === undefined) return { events: [], next: await this.end(gone) };
    const isWanted = (event: Event): boolean => isDeliveredTo(reader.name, event);
    const request = { after, limit: limitOf(query), isWanted, signal: gone };
    const page = await this.read(request);
    const waitMs = Number(seconds) * 1000;
    if (waitMs > 0 && page.events.length === 0) {
      const leave = this.enter(reader.name);
      const until = AbortSignal.any([gone, this.rounds.stopping.signal, AbortSignal.timeout(waitMs)]);
      await wait(() => this.awaitEvents(page, request, until)).finally(leave);
    }
    return { events: page.events.map(feedEvent), next: page.next };
  }

  /** Returns the cursor from which a service gets everything that is committed later. @throws UnavailableError */
  async end(signal: AbortSignal): Promise<string> {
    for (let tries = 0; tries < MAX_TRIES_FOR_END; tries += 1) {
      await this.rounds.begin();
      const last = await this.feed.findLast();
      if (last) return last.eventId;
      if (signal.aborted) break;
    }
    throw new UnavailableError('The event feed is being reset. Repeat the request.');
  }

  /** A page that is not full has everything that was committed before the call. @throws cursor_expired */
  async read(request: PageRequest): Promise<FeedPage> {
    const { after, limit, signal } = request;
    const page: FeedPage = { events: [], next: after, last: this.rounds.last };
    await this.extend(page, request);
    for (let mayHaveMore = true; mayHaveMore && page.events.length < limit && !signal.aborted;) {
      ({ last: page.last, mayHaveMore } = await this.rounds.begin());
      await this.extend(page, request);
    }
    return page;
  }

  private async awaitEvents(page: FeedPage, request: PageRequest, until: AbortSignal): Promise<void> {
    while (page.events.length === 0 && !until.aborted) {
      await this.rounds.another(page.last, until);
      // Set it before reading, so that a round that ends meanwhile counts as another round.
      page.last = this.rounds.last;
      await this.extend(page, request);
    }
  }

  private async extend(page: FeedPage, { limit, isWanted, signal }: PageRequest): Promise<void> {
    // The first entries of the feed may have no event. They are not a gap.
    let isBeginning = page.next === START;
    for (let size = limit; !signal.aborted; size = EVENTS_AT_ONCE) {
      const found = await this.feed.findAfter(page.next, size);
      if (!found) throw new Problem('cursor_expired');
      for (const numbered of found) {
        const isGone = numbered.id === null;
        if (isGone && !isBeginning) throw new Problem('cursor_expired');
        isBeginning &&= isGone;
        page.next = numbered.eventId;
        if (numbered.id !== null && isWanted(numbered)) page.events.push(numbered);
        if (page.events.length >= limit) return;
      }
      if (found.length < size) return;
    }
  }

  private enter(service: string): () => void {
    const count = this.longPolls.get(service) ?? 0;
    if (count >= MAX_LONG_POLLS)
      throw new Problem('rate_limited', { detail: TOO_MANY_WAIT, headers: { 'Retry-After': '1' } });
    this.longPolls.set(service, count + 1);
    return () => this.longPolls.set(service, this.longPolls.get(service)! - 1);
  }
}
