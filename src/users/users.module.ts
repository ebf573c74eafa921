import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { EventsModule } from '../events/events.module.js';
import { UserEvents } from './user-events.js';
import { ImportedUsersRepository } from './imported-users.repository.js';
import { User } from './user.entity.js';
import { UserChangesRepository } from './user-changes.repository.js';
import { UserEmailsRepository } from './user-emails.repository.js';
import { UserImportService } from './user-import.service.js';
import { UserListRepository } from './user-list.repository.js';
import { UsersRepository } from './users.repository.js';
import { UsersService } from './users.service.js';

const EXPORTED = [
  ImportedUsersRepository,
  UserChangesRepository,
  UserEmailsRepository,
  UserEvents,
  UserImportService,
  UserListRepository,
  UsersRepository,
  UsersService,
];

@Module({
  imports: [EventsModule, TypeOrmModule.forFeature([User])],
  providers: EXPORTED,
  exports: EXPORTED,
})
export class UsersModule {}
