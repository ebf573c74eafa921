import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Event, FeedEntry } from './event.entity.js';
import { EventAddressesRepository } from './events.addresses.js';
import { EventsRetention } from './events-retention.js';
import { EventsRepository } from './events.repository.js';
import { EventsService } from './events.service.js';
import { FeedNumbering, PendingMarks } from './feed-numbering.js';
import { FeedRounds } from './feed-rounds.js';
import { FeedRepository } from './feed.repository.js';
import { OperatorEmail, OperatorEmailsRepository } from './operator-emails.repository.js';
import { FeedService } from './feed.service.js';

@Global()
@Module({
  imports: [TypeOrmModule.forFeature([Event, FeedEntry, OperatorEmail])],
  providers: [
    EventAddressesRepository,
    EventsRepository,
    EventsRetention,
    EventsService,
    FeedNumbering,
    FeedRepository,
    FeedRounds,
    FeedService,
    OperatorEmailsRepository,
    PendingMarks,
  ],
  exports: [
    EventAddressesRepository,
    EventsRepository,
    EventsRetention,
    EventsService,
    FeedRounds,
    FeedService,
    OperatorEmailsRepository,
    PendingMarks,
  ],
})
export class EventsModule {}
