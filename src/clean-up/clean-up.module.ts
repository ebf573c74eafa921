import { Module } from '@nestjs/common';
import { CleanUp } from './clean-up.js';
import { OrgPurge } from './org-purge.js';

@Module({
  providers: [CleanUp, OrgPurge],
  exports: [CleanUp],
})
export class CleanUpModule {}
