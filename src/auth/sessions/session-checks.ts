import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { CurrentUser } from '../../access/current-user.decorator.js';
import { BatchedQueries, forEachSize, padded } from '../../database/batched-queries.js';
import { IS_ALIVE, WITH_PARENT } from './alive.js';
import { Session } from './session.entity.js';

/** @param size how many sessions one query asks for */
export const findCallers = forEachSize(
  (size) => `SELECT u.id, u.email, s.id AS sessionId
  FROM sessions s JOIN users u ON u.id = s.user_id ${WITH_PARENT}
  WHERE s.id IN (${Array(size).fill('?').join(', ')}) AND ${IS_ALIVE}`,
);

/** Asks whether sessions live: with every request, by one query for those that come at the same time. */
@Injectable()
export class SessionChecks {
  private readonly queries = new BatchedQueries((ids: string[]) => this.findAll(ids));

  constructor(@InjectRepository(Session) private readonly sessions: Repository<Session>) {}

  /** The user of a session that is neither revoked nor without its user. */
  find(sessionId: string): Promise<CurrentUser | undefined> {
    return this.queries.run(sessionId);
  }

  private async findAll(sessionIds: string[]): Promise<(CurrentUser | undefined)[]> {
    const values = padded(sessionIds, '');
    const rows = await this.sessions.query<CurrentUser[]>(findCallers(values.length), values);
    const bySession = new Map(rows.map((row) => [row.sessionId, row]));
    return sessionIds.map((id) => bySession.get(id));
  }
}
