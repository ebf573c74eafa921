import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { forEachSize, padded } from '../../database/batched-queries.js';
import { Transactions } from '../../database/transactions.js';
import { Session } from '../sessions/session.entity.js';
import { BATCH, type Batch } from './batch.js';

interface Candidate {
  id: string;
  parentId: string | null;
  expiresAt: number;
}

/** The range on `expires_at` alone is what the index is entered by. */
export const EXPIRED_SESSIONS = `SELECT id, parent_id AS parentId, expires_at AS expiresAt FROM sessions
  WHERE expires_at <= ? AND (expires_at < ? OR id < ?) ORDER BY expires_at DESC, id DESC LIMIT ${BATCH}`;

/** @param size how many sessions are asked about: twice, and one that refers to another among them does not count */
export const findReferred = forEachSize((size) => {
  const places = Array(size).fill('?').join(', ');
  return `SELECT s.id FROM sessions s WHERE s.id IN (${places})
    AND (EXISTS (SELECT 1 FROM sessions d WHERE d.parent_id = s.id AND d.id NOT IN (${places}))
      OR EXISTS (SELECT 1 FROM authorization_codes c WHERE c.session_id = s.id))`;
});

/**
 * Sessions that expired and that nothing refers to: neither a code nor a session derived from it, whose ending
 * has to find it. They are examined from the latest to the earliest, so that derived ones mostly come before
 * what they were derived from, each time from where the last batch ended.
 */
@Injectable()
export class ExpiredSessions {
  private last: Candidate | undefined;

  constructor(
    @InjectRepository(Session) private readonly sessions: Repository<Session>,
    private readonly transactions: Transactions,
  ) {}

  async deleteBatch(before: number): Promise<Batch> {
    const { expiresAt, id } = this.last ?? { expiresAt: before, id: '' };
    const candidates = await this.sessions.query<Candidate[]>(EXPIRED_SESSIONS, [expiresAt, expiresAt, id]);
    this.last = candidates.length < BATCH ? undefined : candidates.at(-1);
    const unused = candidates.length > 0 ? await this.withoutReferred(candidates) : [];
    if (unused.length > 0) {
      await this.transactions.statement(
        `DELETE FROM sessions WHERE id IN (${unused.map(() => '?').join(', ')})`,
        unused,
      );
    }
    return { examined: candidates.length, deleted: unused.length };
  }

  private async withoutReferred(candidates: Candidate[]): Promise<string[]> {
    const parents = new Map(candidates.map(({ id, parentId }) => [id, parentId]));
    const ids = padded([...parents.keys()], '');
    const rows = await this.sessions.query<{ id: string }[]>(findReferred(ids.length), [...ids, ...ids]);
    const referred = new Set(rows.map(({ id }) => id));
    // Of those that stay, the parents stay too; a Set that grows while it is walked is walked to its end.
    for (const id of referred) {
      const parent = parents.get(id);
      if (parent && parents.has(parent)) referred.add(parent);
    }
    return [...parents.keys()].filter((id) => !referred.has(id));
  }
}
