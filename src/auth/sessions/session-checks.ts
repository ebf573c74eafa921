import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { CurrentUser } from '../../access/current-user.decorator.js';
import { Session } from './session.entity.js';

interface Waiting {
  sessionId: string;
  resolve: (caller: CurrentUser | undefined) => void;
  reject: (error: unknown) => void;
}

/** Two, so that one query which hangs does not hold everybody up. */
const MOST_QUERIES = 2;
const MOST_IN_ONE = 64;

/** @param size how many sessions one query asks for */
export function findCallers(size: number): string {
  return `SELECT u.id, u.email, s.id AS sessionId
  FROM sessions s JOIN users u ON u.id = s.user_id
  WHERE s.id IN (${Array(size).fill('?').join(', ')}) AND s.revoked_at IS NULL`;
}

/**
 * Asks whether sessions live, for many requests with one query: those that arrive while queries are under
 * way share the next one. Each is asked about after its request arrived, so what it hears is never older than
 * the request.
 */
@Injectable()
export class SessionChecks {
  private waiting: Waiting[] = [];
  private running = 0;

  constructor(@InjectRepository(Session) private readonly sessions: Repository<Session>) {}

  /** The user of a session that is neither revoked nor without its user. */
  find(sessionId: string): Promise<CurrentUser | undefined> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ sessionId, resolve, reject });
      if (this.running < MOST_QUERIES) void this.run();
    });
  }

  private async run(): Promise<void> {
    this.running += 1;
    while (this.waiting.length > 0) {
      const batch = this.waiting.splice(0, MOST_IN_ONE);
      await this.ask(batch).catch((error: unknown) => {
        for (const { reject } of batch) reject(error);
      });
    }
    this.running -= 1;
  }

  private async ask(batch: Waiting[]): Promise<void> {
    const ids = padded(batch.map(({ sessionId }) => sessionId));
    const rows = await this.sessions.query<CurrentUser[]>(findCallers(ids.length), ids);
    const bySession = new Map(rows.map((row) => [row.sessionId, row]));
    for (const { sessionId, resolve } of batch) resolve(bySession.get(sessionId));
  }
}

/** To a power of two, so that there are few statements, which engines and drivers keep prepared. */
function padded(ids: string[]): string[] {
  const size = 2 ** Math.ceil(Math.log2(ids.length));
  return [...ids, ...Array<string>(size - ids.length).fill('')];
}
