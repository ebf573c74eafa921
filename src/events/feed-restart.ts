import { Injectable } from '@nestjs/common';
import { deletePlaces } from './delete-places.js';
import { FeedRepository } from './feed.repository.js';
import { UnnumberedEventsRepository } from './unnumbered-events.repository.js';

/** For a restored database, which lacks what readers have heard of since. */
@Injectable()
export class FeedRestart {
  constructor(
    private readonly feed: FeedRepository,
    private readonly events: UnnumberedEventsRepository,
  ) {}

  /** Every cursor is refused from then on, and what was recorded before is in the feed of nobody. Can be repeated. */
  async restart(): Promise<number> {
    await this.events.clearAll();
    return deletePlaces(this.feed, (limit) => this.feed.findOldest(limit));
  }
}
