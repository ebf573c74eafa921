import { Module } from '@nestjs/common';
import { CleanUp, OrgPurge } from './clean-up.js';

@Module({
  providers: [CleanUp, OrgPurge],
  exports: [CleanUp],
})
export class CleanUpModule {}
