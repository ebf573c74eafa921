import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { UserChanges } from './user-changes.js';
import { User } from './user.entity.js';
import { UsersRepository } from './users.repository.js';
import { UserUpdatesRepository } from './users.updates.js';

const EXPORTED = [UserChanges, UsersRepository, UserUpdatesRepository];

@Global()
@Module({
  imports: [TypeOrmModule.forFeature([User])],
  providers: EXPORTED,
  exports: EXPORTED,
})
export class UsersModule {}
