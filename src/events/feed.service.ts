import { Injectable } from '@nestjs/common';
import type { ServicePrincipal } from '../access/service-principal.js';
import type { Event } from './event.entity.js';
import { feedEvent, isToldTo } from './event-views.js';
import type { Patience } from '../http/patience.decorator.js';
import type { FeedEvent } from './feed.responses.js';
import type { FeedQuery } from './feed.query.js';
import type { FeedResult } from './feed-page.responses.js';
import { FeedPages, type FeedPage, type PageRequest } from './feed-pages.js';
import { HeldRequests } from './long-polls.js';
import { Rounds } from './feed-rounds.js';
import { limitOf } from '../pagination/page.js';

@Injectable()
export class FeedService {
  /** Readers whom one round wakes share the rows of their page, and so what is made of them. */
  private readonly views = new WeakMap<Event, FeedEvent>();

  constructor(
    private readonly pages: FeedPages,
    private readonly rounds: Rounds,
    private readonly held: HeldRequests,
  ) {}

  async read(reader: ServicePrincipal, query: FeedQuery, patience: Patience): Promise<FeedResult> {
    const { after, wait = '0' } = query;
    if (after === undefined) return { events: [], next: await this.pages.end() };
    const isWanted = (event: Event): boolean => isToldTo(reader.name, event);
    const request = { after, limit: limitOf(query), isWanted, signal: patience.gone };
    const { page, last } = await this.pages.read(request);
    const ms = Number(wait) * 1000;
    if (ms > 0 && page.events.length === 0) {
      const hold = { ms, signal: patience.gone };
      await patience.wait(() =>
        this.held.hold(reader.name, hold, (until) => this.await(page, last, request, until)),
      );
    }
    return { events: page.events.map((event) => this.viewOf(event)), next: page.next };
  }

  private viewOf(event: Event): FeedEvent {
    const known = this.views.get(event);
    if (known) return known;
    const view = feedEvent(event);
    this.views.set(event, view);
    return view;
  }

  private async await(page: FeedPage, last: number, request: PageRequest, until: AbortSignal): Promise<void> {
    for (let seen = last; page.events.length === 0 && !until.aborted;) {
      await this.rounds.another(seen, until);
      seen = this.rounds.last;
      await this.pages.extend(page, request);
    }
  }
}
