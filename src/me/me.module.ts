import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { InvitationsModule } from '../orgs/invitations/invitations.module.js';
import { OrgsModule } from '../orgs/orgs.module.js';
import { MeController } from './me.controller.js';
import { MeService } from './me.service.js';
import { OwnCredentialsController } from './own-credentials.controller.js';
import { OwnInvitationsController } from './own-invitations.controller.js';
import { PasswordResetController } from './password-reset.controller.js';

@Module({
  imports: [AccountsModule, InvitationsModule, OrgsModule],
  controllers: [MeController, OwnInvitationsController, OwnCredentialsController, PasswordResetController],
  providers: [MeService],
})
export class MeModule {}
