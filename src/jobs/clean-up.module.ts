import { Module } from '@nestjs/common';
import { CleanUpService } from './clean-up.service.js';
import { JobsModule } from './jobs.module.js';

@Module({ imports: [JobsModule], providers: [CleanUpService] })
export class CleanUpModule {}
