import { Injectable, type OnModuleInit } from '@nestjs/common';
import { EventDeletions } from '../record/event-deletions.js';
import { deletePlaces } from './delete-places.js';
import { FeedRepository } from './feed.repository.js';

/** Deletes places before their events, and all older ones with them, or a reader in between would miss an event. */
@Injectable()
export class FeedRetention implements OnModuleInit {
  constructor(
    private readonly feed: FeedRepository,
    private readonly deletions: EventDeletions,
  ) {}

  onModuleInit(): void {
    this.deletions.precede((ids) => this.forget(ids));
  }

  private async forget(eventIds: readonly string[]): Promise<void> {
    const last = await this.feed.findLastOf(eventIds);
    if (last !== undefined) await deletePlaces(this.feed, (limit) => this.feed.findUpTo(last, limit));
  }
}
