import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { EndedSessions } from './ended-sessions.js';
import { SessionRevocation } from './session-revocation.js';
import { UserSessionsRepository } from './user-sessions.repository.js';

const MAX_LIVE_SESSIONS = 1000;
/** so many sessions of a user may a process open before it looks how many there are */
const LOOK_EVERY = 32;
const MAX_USERS = 10_000;
/** what one look ends at most; the next one goes on */
const MAX_ENDED_AT_ONCE = 100;

/**
 * Keeps the live sessions of a user at 1,000: beyond, the oldest that codes opened are ended. Has those deleted that have
 * ended, where there are more in all. Looking in the
 * background after every 32nd takes no trip of the requests, and lets each process exceed the limit by so many.
 */
@Injectable()
export class DerivedSessionsLimit implements OnApplicationShutdown {
  private readonly logger = new Logger('Sessions');
  private readonly opened = new LRUCache<string, number>({ max: MAX_USERS });
  /** of users whose sessions are being counted */
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
        this.logger.warn({ msg: 'old sessions not ended, to be retried', err: error }),
      )
      .finally(() => this.running.delete(userId));
    this.running.set(userId, look);
  }

  private async endOldest(userId: string): Promise<void> {
    // From an index alone: mostly that is all.
    if (!(await this.sessions.hasMoreThan(userId, MAX_LIVE_SESSIONS))) return;
    const excess = (await this.sessions.countAlive(userId, Date.now())) - MAX_LIVE_SESSIONS;
    if (excess > 0) await this.endSome(userId, Math.min(excess, MAX_ENDED_AT_ONCE));
    this.ended.deleteSoon(userId);
  }

  private async endSome(userId: string, count: number): Promise<void> {
    const oldest = await this.sessions.findOldestDerived(userId, count);
    for (const id of oldest) {
      await this.revocation.revoke({ id, userId }, { actor: { kind: 'system' }, reason: 'revoked' });
    }
    this.logger.warn({
      msg: 'too many sessions: the oldest that codes opened were ended',
      userId,
      ended: oldest.length,
    });
  }
}
