import { Injectable } from '@nestjs/common';
import { SessionRemoval } from '../sessions/session-removal.js';
import { type ExpiredSession, SessionsRepository } from '../sessions/sessions.repository.js';
import { BATCH, type Batch } from './batch.js';

@Injectable()
export class ExpiredSessions {
  private last: ExpiredSession | undefined;

  constructor(
    private readonly sessions: SessionsRepository,
    private readonly removal: SessionRemoval,
  ) {}

  async deleteBatch(before: number): Promise<Batch> {
    const { expiresAt, id } = this.last ?? { expiresAt: before, id: '' };
    const candidates = await this.sessions.findExpired(expiresAt, id);
    this.last = candidates.length < BATCH ? undefined : candidates.at(-1);
    return { examined: candidates.length, deleted: await this.removal.remove(candidates) };
  }
}
