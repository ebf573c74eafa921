import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { RecordModule } from '../record/record.module.js';
import { AccountEvents } from './account-events.js';
import { AccountRepository } from './account.repository.js';
import { ImportedUsersRepository } from './imported-users.repository.js';
import { User } from './user.entity.js';
import { UsersRepository } from './users.repository.js';
import { UsersService } from './users.service.js';

@Module({
  imports: [RecordModule, TypeOrmModule.forFeature([User])],
  providers: [AccountEvents, AccountRepository, ImportedUsersRepository, UsersRepository, UsersService],
  exports: [AccountEvents, AccountRepository, ImportedUsersRepository, UsersRepository, UsersService],
})
export class UsersModule {}
