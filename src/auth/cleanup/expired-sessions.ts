import { Injectable } from '@nestjs/common';
import { type ExpiredSession, SessionsRepository } from '../sessions/sessions.repository.js';
import { BATCH, type Batch } from './batch.js';

/**
 * Sessions that expired and that nothing refers to: neither a code nor a session derived from it, whose ending
 * has to find it. They are examined from the latest to the earliest, so that derived ones mostly come before
 * what they were derived from, each time from where the last batch ended.
 */
@Injectable()
export class ExpiredSessions {
  private last: ExpiredSession | undefined;

  constructor(private readonly sessions: SessionsRepository) {}

  async deleteBatch(before: number): Promise<Batch> {
    const { expiresAt, id } = this.last ?? { expiresAt: before, id: '' };
    const candidates = await this.sessions.findExpired(expiresAt, id);
    this.last = candidates.length < BATCH ? undefined : candidates.at(-1);
    const unused = candidates.length > 0 ? await this.withoutReferred(candidates) : [];
    if (unused.length > 0) await this.sessions.delete(unused);
    return { examined: candidates.length, deleted: unused.length };
  }

  private async withoutReferred(candidates: ExpiredSession[]): Promise<string[]> {
    const parents = new Map(candidates.map(({ id, parentId }) => [id, parentId]));
    const referred = new Set(await this.sessions.findReferred([...parents.keys()]));
    // Of those that stay, the parents stay too; a Set that grows while it is walked is walked to its end.
    for (const id of referred) {
      const parent = parents.get(id);
      if (parent && parents.has(parent)) referred.add(parent);
    }
    return [...parents.keys()].filter((id) => !referred.has(id));
  }
}
