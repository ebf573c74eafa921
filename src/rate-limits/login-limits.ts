import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { clientKey, emailKey, RATE_LIMIT_STORE, type RateLimitStore } from './rate-limit-store.js';
import { EventsRepository } from '../events/events.repository.js';
import { UsersRepository } from '../users/users.repository.js';
import { Env } from '../config/env.js';
import type { Transaction } from '../database/transactions/transactions.js';
import { BATCH, type Batch, deleteFound } from '../database/statements.js';
import { refusedBy } from './admissions.js';
import { loginCounters } from './rate-limit-rules.js';
import { LiftedLimitsRepository } from './lifted-limits.repository.js';

const MAX_EMAILS = 10_000;
const KNOWN_FOR_MS = 30 * 86_400_000;

/** The IP addresses of recent logins, which pass so that a stranger cannot lock out a user. */
@Injectable()
export class KnownAddresses {
  constructor(
    private readonly users: UsersRepository,
    private readonly events: EventsRepository,
  ) {}

  /** Sends the same queries for every email, whether or not it has an account. */
  async keysOf(email: string): Promise<ReadonlySet<string>> {
    const userId = (await this.users.findIdByEmail(email)) ?? '';
    const known = await this.events.findSignInAddresses(userId, Date.now() - KNOWN_FOR_MS);
    return new Set(known.map((one) => clientKey(one)));
  }
}

@Injectable()
export class FailedLogins {
  private readonly users = new LRUCache<string, string>({ max: MAX_EMAILS });

  constructor(
    private readonly env: Env,
    private readonly known: KnownAddresses,
    @Inject(RATE_LIMIT_STORE) private readonly store: Pick<RateLimitStore, 'admit'>,
  ) {}

  /**
   * For a password in a request that does not name the email. Call it before you verify the password, and what it
   * returns if the password is right. @throws RateLimitedError
   */
  async count(
    { id: userId, email }: { id: string; email: string },
    address: string,
  ): Promise<() => Promise<void>> {
    const counters = loginCounters(this.env, email, null);
    const { admitted, quotas, giveBack } = await this.store.admit(counters);
    const isKnown = admitted || (await this.known.keysOf(email)).has(clientKey(address));
    if (!isKnown) throw refusedBy('account', quotas[0]!, userId);
    return giveBack;
  }

  /** Provides the user for the log line of a refused login without a query. */
  note(email: string, userId: string): void {
    this.users.set(emailKey(email), userId);
  }

  findUser(email: string | undefined): string | undefined {
    return email === undefined ? undefined : this.users.peek(emailKey(email));
  }
}

export interface HeldLimit {
  limit: 'account' | 'login';
  /** epoch milliseconds */
  until: number;
}

/** Looks whether logins of a user are limited now, and counts nothing. */
@Injectable()
export class HeldLimits {
  constructor(
    private readonly env: Env,
    @Inject(RATE_LIMIT_STORE) private readonly store: Pick<RateLimitStore, 'look' | 'degraded'>,
  ) {}

  /** @param address of the last failed login: an email has a limit for each address, which cannot be listed */
  async find(email: string, address: string | null): Promise<HeldLimit[]> {
    const counters = loginCounters(this.env, email, address);
    if (counters.length === 0) return [];
    const quotas = await this.store.look(counters);
    const now = Date.now();
    return counters.flatMap(({ name }, i) => {
      const { remaining, resetMs } = quotas[i]!;
      return remaining <= 0 ? { limit: name as HeldLimit['limit'], until: now + resetMs } : [];
    });
  }

  /** Without Redis, each instance counts for itself. */
  get areShared(): boolean {
    return this.env.redisUrl !== undefined && !this.store.degraded;
  }
}

/** A lift is a time, because keys also hash the IP address. Polling saves refused requests a query. */
@Injectable()
export class LiftedLimits {
  private readonly windowMs: number;
  private applied = new Map<string, number>();

  constructor(
    env: Env,
    private readonly rows: LiftedLimitsRepository,
    @Inject(RATE_LIMIT_STORE) private readonly store: RateLimitStore,
  ) {
    this.windowMs = Math.max(0, env.rateLimitLogin?.windowMs ?? 0, env.rateLimitFailedLogins?.windowMs ?? 0);
  }

  /** Call `tryToApply` after COMMIT. @param email normalized */
  async lift(tx: Transaction, email: string): Promise<void> {
    if (this.windowMs > 0) await this.rows.put(tx, emailKey(email));
  }

  /** Applies new lifts on this instance and in Redis. */
  async apply(): Promise<void> {
    if (this.windowMs === 0) return;
    // Read the clock before the query, so that the lift ignores no later admission.
    const asked = performance.now();
    const recent = await this.rows.findRecent(this.windowMs);
    const { applied: before, windowMs } = this;
    this.applied = new Map();
    const lifts = recent.map(async ({ liftKey: key, liftedAt, agoMs }) => {
      if (before.get(key) !== liftedAt) {
        await this.store.lift(key, { agoMs: agoMs + performance.now() - asked, windowMs });
      }
      this.applied.set(key, liftedAt);
    });
    const failed = (await Promise.allSettled(lifts)).find((lift) => lift.status === 'rejected');
    if (failed) throw failed.reason;
  }

  /** Applies a lift that was committed at once if possible. RepeatedWork reports a failure and tries again. */
  async tryToApply(): Promise<void> {
    await this.apply().catch(() => undefined);
  }

  async deleteOld(): Promise<Batch> {
    return deleteFound(await this.rows.findOld(this.windowMs, BATCH), (old) => this.rows.delete(old));
  }
}
