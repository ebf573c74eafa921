import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { UserChanges } from './user-changes.js';
import { UserImportService } from './user-import.service.js';
import { User } from './user.entity.js';
import { UsersRepository } from './users.repository.js';
import { UserUpdatesRepository } from './users.updates.js';

const EXPORTED = [UserChanges, UserImportService, UsersRepository, UserUpdatesRepository];

@Global()
@Module({
  imports: [TypeOrmModule.forFeature([User])],
  providers: EXPORTED,
  exports: EXPORTED,
})
export class UsersModule {}
