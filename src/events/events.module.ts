import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Event } from './event.entity.js';
import { EventAddressesRepository } from './event-addresses.repository.js';
import { EventsRepository } from './events.repository.js';

@Module({
  imports: [TypeOrmModule.forFeature([Event])],
  providers: [EventAddressesRepository, EventsRepository],
  exports: [EventAddressesRepository, EventsRepository],
})
export class EventsModule {}
