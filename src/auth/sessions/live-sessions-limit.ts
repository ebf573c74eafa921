import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { SessionRevocation } from './session-revocation.js';
import { SessionDeletion } from './session-deletion.js';
import { type OwnSession, UserSessionsRepository } from './sessions.of-user.js';

const MAX_LIVE_SESSIONS = 1000;
const CHECK_EVERY = 32;
/** Each clean-up checks users with more rows again, because each process may open LOOK_EVERY more. */
const MANY_SESSIONS = MAX_LIVE_SESSIONS - 3 * CHECK_EVERY;
const MAX_USERS = 10_000;
const MAX_REVOKED_AT_ONCE = 100;
const TOO_MANY = { actor: { kind: 'system' }, reason: 'too_many' } as const;

@Injectable()
export class LiveSessionsLimit implements OnApplicationShutdown {
  private readonly logger = new Logger('Sessions');
  private readonly opened = new LRUCache<string, number>({ max: MAX_USERS });
  private readonly withMany = new LRUCache<string, true>({ max: MAX_USERS });
  private readonly running = new Map<string, Promise<void>>();
  private stopped = false;

  constructor(
    private readonly sessions: UserSessionsRepository,
    private readonly revocation: SessionRevocation,
    private readonly deletion: SessionDeletion,
  ) {}

  async onApplicationShutdown(): Promise<void> {
    this.stopped = true;
    await Promise.all(this.running.values());
  }

  /**
   * Counts in memory, so that most logins and exchanges cause no search for the oldest sessions.
   *
   * @floor login 0.8, issuing and exchanging a code 0.55: one count of sessions for each 32 that are opened
   */
  noteOpened(userId: string): void {
    const opened = (this.opened.get(userId) ?? 0) + 1;
    this.opened.set(userId, opened % CHECK_EVERY);
    if (opened === CHECK_EVERY) void this.check(userId);
  }

  async checkAgain(): Promise<void> {
    const users = [...this.withMany.keys()];
    for (const userId of users) await this.check(userId);
  }

  private check(userId: string): Promise<void> {
    const running = this.running.get(userId);
    if (running) return running;
    const check = this.revokeExcess(userId)
      .catch((err: unknown) =>
        this.logger.warn({ msg: 'the oldest delegated sessions could not be ended; retrying', err }),
      )
      .finally(() => this.running.delete(userId));
    this.running.set(userId, check);
    return check;
  }

  private async revokeExcess(userId: string): Promise<void> {
    if (!(await this.sessions.hasMoreThan(userId, MANY_SESSIONS))) {
      this.withMany.delete(userId);
      return;
    }
    this.withMany.set(userId, true);
    if (!(await this.sessions.hasMoreThan(userId, MAX_LIVE_SESSIONS))) return;
    while (!this.stopped) {
      const excess = (await this.sessions.countAlive(userId, Date.now())) - MAX_LIVE_SESSIONS;
      if (excess <= 0) break;
      const oldest = await this.sessions.findOldestDelegated(userId, Math.min(excess, MAX_REVOKED_AT_ONCE));
      if (oldest.length === 0) break;
      await this.revokeAll(userId, oldest);
    }
    this.deletion.deleteSoon(userId);
  }

  /** Revokes a head with its branch, because a code of the head may just open a session. */
  private async revokeAll(userId: string, sessions: readonly OwnSession[]): Promise<void> {
    const heads = sessions.filter(({ id, branchId }) => id === branchId);
    const others = sessions.filter(({ id, branchId }) => id !== branchId).map(({ id }) => id);
    if (others.length > 0) await this.revocation.revokeRows(userId, others, TOO_MANY);
    for (const { id } of heads) await this.revocation.revoke(id, TOO_MANY);
    const ended = sessions.length;
    this.logger.warn({ msg: 'too many delegated sessions: the oldest were ended', userId, ended });
  }
}
