import { Injectable } from '@nestjs/common';
import { type ExpiredSession, SessionsRepository } from '../sessions/sessions.repository.js';
import { BATCH, type Batch } from './batch.js';

/** Spares sessions that a code or a derived session refers to: revocation finds those through them. */
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
    // The parents of sessions that stay must stay too; a Set visits what is added during the iteration.
    for (const id of referred) {
      const parent = parents.get(id);
      if (parent && parents.has(parent)) referred.add(parent);
    }
    return [...parents.keys()].filter((id) => !referred.has(id));
  }
}
