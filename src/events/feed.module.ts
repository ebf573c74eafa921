import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { JobsModule } from '../jobs/jobs.module.js';
import { Event } from './event.entity.js';
import { RecordModule } from './events.module.js';
import { FeedEntry } from './feed-entry.entity.js';
import { FeedPages } from './feed-pages.js';
import { FeedRepository } from './feed.repository.js';
import { FeedRestart } from './feed-restart.js';
import { FeedRetention } from './feed-retention.js';
import { Numbering } from './feed-numbering.js';
import { PendingMarks } from './pending-marks.js';
import { Rounds } from './feed-rounds.js';
import { UnnumberedEventsRepository } from './unnumbered-events.repository.js';

@Module({
  imports: [JobsModule, RecordModule, TypeOrmModule.forFeature([Event, FeedEntry])],
  providers: [
    FeedPages,
    FeedRepository,
    FeedRestart,
    FeedRetention,
    Numbering,
    PendingMarks,
    Rounds,
    UnnumberedEventsRepository,
  ],
  exports: [FeedPages, FeedRestart, Rounds],
})
export class FeedModule {}
