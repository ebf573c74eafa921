import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { RecordModule } from '../record/record.module.js';
import { UserEvents } from './user-events.js';
import { ImportedUsersRepository } from './imported-users.repository.js';
import { User } from './user.entity.js';
import { UserChangesRepository } from './user-changes.repository.js';
import { UserEmailsRepository } from './user-emails.repository.js';
import { UsersRepository } from './users.repository.js';
import { UsersService } from './users.service.js';

const PROVIDERS = [
  ImportedUsersRepository,
  UserChangesRepository,
  UserEmailsRepository,
  UserEvents,
  UsersRepository,
  UsersService,
];

@Module({
  imports: [RecordModule, TypeOrmModule.forFeature([User])],
  providers: PROVIDERS,
  exports: PROVIDERS,
})
export class UsersModule {}
