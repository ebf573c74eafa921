import { Injectable } from '@nestjs/common';
import type { Batch } from '../database/batches.js';

/** @param now epoch milliseconds */
export type CleanUpJob = (now: number) => Promise<Batch | void>;

/** Rooms add jobs for their own rows here; the clean-up runs them batch by batch. */
@Injectable()
export class CleanUpJobs {
  readonly all: CleanUpJob[] = [];

  add(job: CleanUpJob): void {
    this.all.push(job);
  }
}
