import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Env } from '../config/env.js';
import { firstEntityIdAt } from '../identifiers/entity-id.js';
import { BATCH, type Batch } from '../jobs/batch.js';
import { CleanUpJobs } from '../jobs/clean-up-jobs.js';
import { EventDeletions } from './event-deletions.js';
import { deletePlaces } from './delete-places.js';
import { FeedRepository } from './feed.repository.js';
import { UnnumberedEventsRepository } from './unnumbered-events.repository.js';

/** Deletes places before their events, and all older ones with them, or a reader in between would miss an event. */
@Injectable()
export class FeedRetention implements OnModuleInit {
  constructor(
    private readonly feed: FeedRepository,
    private readonly events: UnnumberedEventsRepository,
    private readonly deletions: EventDeletions,
    private readonly jobs: CleanUpJobs,
    private readonly env: Env,
  ) {}

  onModuleInit(): void {
    this.deletions.precede((ids) => this.forget(ids));
    this.jobs.add((now) => this.forgetDeleted(now));
  }

  private async forget(eventIds: readonly string[]): Promise<void> {
    // An event that may not be deleted must not get another place.
    await this.events.clearMarks(eventIds);
    await this.deletePlacesUpTo(eventIds);
  }

  /** Expired events that somebody else deleted leave their places behind. Older places go, too, or `start` would meet a gap. */
  private async forgetDeleted(now: number): Promise<Batch> {
    const expired = firstEntityIdAt(now - this.env.eventsRetention * 1000);
    const oldest = await this.feed.findFirst(BATCH);
    const last = oldest.findLastIndex(({ id, place }) => id === null && place < expired);
    const left = oldest.slice(0, last + 1).map(({ place }) => place);
    const deleted = left.length === 0 ? 0 : await this.deletePlacesUpTo(left);
    return { examined: left.length, deleted };
  }

  private async deletePlacesUpTo(eventIds: readonly string[]): Promise<number> {
    const last = await this.feed.findLastOf(eventIds);
    return last === undefined ? 0 : deletePlaces(this.feed, (limit) => this.feed.findUpTo(last, limit));
  }
}
