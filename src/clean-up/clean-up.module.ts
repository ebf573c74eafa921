import { Module } from '@nestjs/common';
import { OrgsModule } from '../orgs/orgs.module.js';
import { CleanUp } from './clean-up.js';

@Module({
  imports: [OrgsModule],
  providers: [CleanUp],
  exports: [CleanUp],
})
export class CleanUpModule {}
