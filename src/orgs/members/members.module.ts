import { Module } from '@nestjs/common';
import { MembersReader } from './members-reader.js';
import { MembersController } from './members.controller.js';
import { MembersService } from './members.service.js';
import { RolesGuard } from './roles.guard.js';

@Module({
  controllers: [MembersController],
  providers: [MembersReader, MembersService, RolesGuard],
  exports: [MembersReader, MembersService, RolesGuard],
})
export class MembersModule {}
