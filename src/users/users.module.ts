import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { EventsModule } from '../events/events.module.js';
import { UserChanges } from './user-changes.js';
import { User } from './user.entity.js';
import { UserImportService } from './user-import.service.js';
import { UsersRepository } from './users.repository.js';
import { UserUpdates } from './users.updates.js';

const EXPORTED = [UserChanges, UserImportService, UsersRepository, UserUpdates];

@Module({
  imports: [EventsModule, TypeOrmModule.forFeature([User])],
  providers: EXPORTED,
  exports: EXPORTED,
})
export class UsersModule {}
