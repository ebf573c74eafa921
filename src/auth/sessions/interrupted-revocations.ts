import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Batch } from '../../jobs/batch.js';
import { CleanUpJobs } from '../../jobs/clean-up-jobs.js';
import { SessionRevocation } from './session-revocation.js';

/** A revocation still pending by then was interrupted; if it is merely slow, a second one does no harm. */
const STALE_REVOCATION_MS = 10_000;

@Injectable()
export class InterruptedRevocations implements OnModuleInit {
  constructor(
    private readonly revocation: SessionRevocation,
    private readonly jobs: CleanUpJobs,
  ) {}

  onModuleInit(): void {
    this.jobs.add((now) => this.resume(now));
  }

  private async resume(now: number): Promise<Batch> {
    await this.revocation.resume(now - STALE_REVOCATION_MS);
    return { examined: 0, deleted: 0 };
  }
}
