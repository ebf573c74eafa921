import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { EventsModule } from '../events/events.module.js';
import { UserDeletionService } from '../accounts/user-deletion.js';
import { UserDisablingService } from '../accounts/user-disabling.js';
import { UserEvents } from './user-events.js';
import { UserExport } from '../accounts/user-export.js';
import { EventsOfUser } from './events-of-user.js';
import { ImportedUsersRepository } from './imported-users.repository.js';
import { User } from './user.entity.js';
import { UserChangesRepository } from './user-changes.repository.js';
import { UserEmailsRepository } from './user-emails.repository.js';
import { UserImportService } from './user-import.service.js';
import { UserListRepository } from './user-list.repository.js';
import { UserParts } from './user-parts.js';
import { UsersRepository } from './users.repository.js';
import { UsersService } from './users.service.js';

const EXPORTED = [
  ImportedUsersRepository,
  UserChangesRepository,
  UserEmailsRepository,
  UserDeletionService,
  UserDisablingService,
  UserEvents,
  UserExport,
  UserImportService,
  UserListRepository,
  UserParts,
  UsersRepository,
  UsersService,
];

@Module({
  imports: [EventsModule, TypeOrmModule.forFeature([User])],
  providers: [...EXPORTED, EventsOfUser],
  exports: EXPORTED,
})
export class UsersModule {}
