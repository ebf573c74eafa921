import { Module } from '@nestjs/common';
import { MembershipsModule } from '../memberships/memberships.module.js';
import { OrgsModule } from '../orgs/orgs.module.js';
import { UsersModule } from '../users/users.module.js';
import { AccountView } from './account-view.js';
import { MeController } from './me.controller.js';
import { MeView } from './me-view.js';
import { OwnOrgsController } from './own-orgs.controller.js';
import { OwnOrgsService } from './own-orgs.service.js';

@Module({
  imports: [MembershipsModule, OrgsModule, UsersModule],
  controllers: [MeController, OwnOrgsController],
  providers: [AccountView, MeView, OwnOrgsService],
})
export class MeModule {}
