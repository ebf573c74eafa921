import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccountRepository } from './account.repository.js';
import { ImportedUsersRepository } from './imported-users.repository.js';
import { User } from './user.entity.js';
import { UsersRepository } from './users.repository.js';
import { UsersService } from './users.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([User])],
  providers: [AccountRepository, ImportedUsersRepository, UsersRepository, UsersService],
  exports: [AccountRepository, ImportedUsersRepository, UsersRepository, UsersService],
})
export class UsersModule {}
