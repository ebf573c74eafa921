import { Injectable, type OnModuleInit } from '@nestjs/common';
import { SessionRemoval } from './session-removal.js';
import { type ExpiredSession, SessionsRepository } from './sessions.repository.js';
import { BATCH, type Batch } from '../../jobs/batch.js';
import { CleanUpJobs } from '../../jobs/clean-up-jobs.js';
import { LEEWAY_SECONDS } from '../tokens/access-token.js';

@Injectable()
export class ExpiredSessions implements OnModuleInit {
  private last: ExpiredSession | undefined;

  constructor(
    private readonly sessions: SessionsRepository,
    private readonly removal: SessionRemoval,
    private readonly jobs: CleanUpJobs,
  ) {}

  onModuleInit(): void {
    this.jobs.add((now) => this.deleteBatch(now - LEEWAY_SECONDS * 1000));
  }

  async deleteBatch(before: number): Promise<Batch> {
    const { expiresAt, id } = this.last ?? { expiresAt: before, id: '' };
    const candidates = await this.sessions.findExpired(expiresAt, id);
    this.last = candidates.length < BATCH ? undefined : candidates.at(-1);
    return { examined: candidates.length, deleted: await this.removal.remove(candidates) };
  }
}
