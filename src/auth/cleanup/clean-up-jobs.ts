import { Injectable } from '@nestjs/common';
import type { Batch } from './batch.js';

/** @param now epoch milliseconds */
export type CleanUpJob = (now: number) => Promise<Batch>;

/** Jobs that other modules add here run in the clean-up, batch by batch. */
@Injectable()
export class CleanUpJobs {
  readonly all: CleanUpJob[] = [];

  add(job: CleanUpJob): void {
    this.all.push(job);
  }
}
