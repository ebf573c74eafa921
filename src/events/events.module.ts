import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Event } from './event.entity.js';
import { EventDeletions } from './event-deletions.js';
import { EventAddressesRepository } from './event-addresses.repository.js';
import { EventsRepository } from './events.repository.js';
import { ExpiredEvents } from './events-retention.js';
import { RecordService } from './events.service.js';
import { JobsModule } from '../jobs/jobs.module.js';

@Module({
  imports: [JobsModule, TypeOrmModule.forFeature([Event])],
  providers: [EventAddressesRepository, EventDeletions, EventsRepository, ExpiredEvents, RecordService],
  exports: [EventAddressesRepository, EventDeletions, EventsRepository, RecordService],
})
export class RecordModule {}
