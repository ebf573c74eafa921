import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { EndedSessions } from './ended-sessions.js';
import { SessionRevocation } from './session-revocation.js';
import { UserSessionsRepository } from './user-sessions.repository.js';

const MAX_LIVE_SESSIONS = 1000;
const LOOK_EVERY = 32;
const MAX_USERS = 10_000;
const MAX_ENDED_AT_ONCE = 100;

// Keeps about 1,000 live sessions per user: ends the oldest that codes opened, and has ended ones deleted. Runs in the
// background, so that no request waits for it; each process may exceed the limit by LOOK_EVERY.
@Injectable()
export class DerivedSessionsLimit implements OnApplicationShutdown {
  private readonly logger = new Logger('Sessions');
  private readonly opened = new LRUCache<string, number>({ max: MAX_USERS });
  private readonly running = new Map<string, Promise<void>>();

  constructor(
    private readonly sessions: UserSessionsRepository,
    private readonly revocation: SessionRevocation,
    private readonly ended: EndedSessions,
  ) {}

  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.running.values());
  }

  noteOpened(userId: string): void {
    const opened = (this.opened.get(userId) ?? 0) + 1;
    this.opened.set(userId, opened % LOOK_EVERY);
    if (opened < LOOK_EVERY || this.running.has(userId)) return;
    const look = this.endOldest(userId)
      .catch((error: unknown) =>
        this.logger.warn({
          msg: 'the oldest derived sessions could not be ended; it will be retried',
          err: error,
        }),
      )
      .finally(() => this.running.delete(userId));
    this.running.set(userId, look);
  }

  private async endOldest(userId: string): Promise<void> {
    // This reads an index alone, and mostly suffices.
    if (!(await this.sessions.hasMoreThan(userId, MAX_LIVE_SESSIONS))) return;
    const excess = (await this.sessions.countAlive(userId, Date.now())) - MAX_LIVE_SESSIONS;
    if (excess > 0) await this.endSome(userId, Math.min(excess, MAX_ENDED_AT_ONCE));
    this.ended.deleteSoon(userId);
  }

  private async endSome(userId: string, count: number): Promise<void> {
    const oldest = await this.sessions.findOldestDerived(userId, count);
    for (const id of oldest) {
      await this.revocation.revoke({ id, userId }, { actor: { kind: 'system' }, reason: 'too_many' });
    }
    this.logger.warn({
      msg: 'too many sessions opened by codes: the oldest were ended',
      userId,
      ended: oldest.length,
    });
  }
}
