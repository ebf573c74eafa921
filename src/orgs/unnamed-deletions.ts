import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Env } from '../config/env.js';
import { BATCH, type Batch } from '../database/batches.js';
import { CleanUpJobs } from '../clean-up/clean-up-jobs.js';
import { DeletedOrgsRepository } from './state/deleted-orgs.repository.js';

/** Looks back no further, since it reads what was deleted in this time with each run. */
const LOOK_BACK_MS = 86_400_000;

/** Gives organizations that an older instance deletes during an upgrade the name by which deleted ones are listed. */
@Injectable()
export class UnnamedDeletions implements OnModuleInit {
  constructor(
    private readonly orgs: DeletedOrgsRepository,
    private readonly env: Env,
    private readonly jobs: CleanUpJobs,
  ) {}

  onModuleInit(): void {
    this.jobs.add((now) => this.nameBatch(now));
  }

  async nameBatch(now: number): Promise<Batch> {
    const purgedAfter = now + this.env.orgRestoreWindow * 1000 - LOOK_BACK_MS;
    const ids = await this.orgs.findUnnamed(purgedAfter, BATCH);
    if (ids.length > 0) await this.orgs.addNames(ids);
    return { examined: ids.length, deleted: 0 };
  }
}
