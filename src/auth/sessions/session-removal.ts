import { Injectable } from '@nestjs/common';
import type { Session } from './session.entity.js';
import { SessionsRepository } from './sessions.repository.js';

export type RemovableSession = Pick<Session, 'id' | 'parentId'>;

/** Keeps sessions that a code or a derived session refers to: revocation finds those through them. */
@Injectable()
export class SessionRemoval {
  constructor(private readonly sessions: SessionsRepository) {}

  /** @param candidates at most a batch, derived sessions before those that they are derived from */
  async remove(candidates: readonly RemovableSession[]): Promise<number> {
    const unused = candidates.length > 0 ? await this.withoutReferred(candidates) : [];
    if (unused.length > 0) await this.sessions.delete(unused);
    return unused.length;
  }

  private async withoutReferred(candidates: readonly RemovableSession[]): Promise<string[]> {
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

/** Ids are in the order of time. */
export function derivedFirst<S extends RemovableSession>(sessions: readonly S[]): S[] {
  return sessions.toSorted((a, b) => (a.id < b.id ? 1 : -1));
}
