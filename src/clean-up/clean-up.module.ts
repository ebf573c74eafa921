import { Module } from '@nestjs/common';
import { CleanUpService } from '../clean-up/clean-up.js';
import { JobsModule } from './jobs.module.js';

@Module({ imports: [JobsModule], providers: [CleanUpService] })
export class CleanUpModule {}
