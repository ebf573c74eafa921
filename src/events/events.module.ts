import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Event } from './event.entity.js';
import { EventsRepository } from './events.repository.js';

@Module({
  imports: [TypeOrmModule.forFeature([Event])],
  providers: [EventsRepository],
  exports: [EventsRepository],
})
export class EventsModule {}
