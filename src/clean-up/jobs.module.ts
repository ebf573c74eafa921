import { Module } from '@nestjs/common';
import { CleanUpJobs } from './clean-up-jobs.js';

/** Takes the jobs of every room. Nothing runs them without the scheduler of CleanUpModule. */
@Module({ providers: [CleanUpJobs], exports: [CleanUpJobs] })
export class JobsModule {}
