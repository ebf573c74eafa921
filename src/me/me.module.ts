import { Module } from '@nestjs/common';
import { OrgsModule } from '../orgs/orgs.module.js';
import { MeController } from './me.controller.js';

@Module({ imports: [OrgsModule], controllers: [MeController] })
export class MeModule {}
