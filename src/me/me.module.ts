import { Module } from '@nestjs/common';
import { OrgsModule } from '../orgs/orgs.module.js';
import { UsersModule } from '../users/users.module.js';
import { AccountView } from './account-view.js';
import { MeController } from './me.controller.js';

@Module({ imports: [OrgsModule, UsersModule], controllers: [MeController], providers: [AccountView] })
export class MeModule {}
