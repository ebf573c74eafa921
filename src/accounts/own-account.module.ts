import { Module } from '@nestjs/common';
import { EventsModule } from '../events/events.module.js';
import { MailModule } from '../mail/mail.module.js';
import { MembershipsModule } from '../memberships/memberships.module.js';
import { RateLimitsModule } from '../rate-limits/rate-limits.module.js';
import { UsersModule } from '../users/users.module.js';
import { WritesModule } from '../writes/writes.module.js';
import { AbandonedOrgs } from './abandoned-orgs.js';
import { AccountDeletionService } from './account-deletion.service.js';
import { LockedOrgs } from './locked-orgs.js';
import { OwnAccountController } from './own-account.controller.js';
import { OwnAccountService } from './own-account.service.js';

@Module({
  imports: [EventsModule, MailModule, MembershipsModule, RateLimitsModule, UsersModule, WritesModule],
  controllers: [OwnAccountController],
  providers: [AbandonedOrgs, AccountDeletionService, LockedOrgs, OwnAccountService],
})
export class OwnAccountModule {}
