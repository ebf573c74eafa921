import { Injectable } from '@nestjs/common';
import type { Origin } from '../../access/principal.js';
import { inBatches } from '../../database/statements.js';
import { Transactions } from '../../database/transactions/transactions.js';
import { FailedLogins } from '../../rate-limits/login-limits.js';
import { type LoginFailure, loginFailed } from '../../telemetry/metrics/measurements.js';
import type { User } from '../../users/user.entity.js';
import { type LoginNote, LoginTracesRepository } from '../sessions/login-traces.repository.js';

/** By then, every instance has written the logins before a failure, so that the failure counts after them. */
const SETTLE_MS = 4000;
const KEEP_IP_MS = 90 * 86_400_000;
/** The rest of the failures are added to the last note, because their times matter only within a few seconds. */
const MAX_NOTES_OF_USER = 10;
/** more than all instances can hash in the time until their notes are written */
const MAX_USERS = 10_000;

/**
 * Sums logins and failures in memory, and writes them in the background: no login waits for a row of another one.
 *
 * @floor login 0.8: 0.88 with it, not measured without
 */
@Injectable()
export class LoginTraces {
  private pending = new Map<string, LoginNote[]>();
  /** 0.3 deletes users without their traces: each start checks all of them, a page with each write. */
  private checkedUntil: string | undefined = '';

  constructor(
    private readonly traces: LoginTracesRepository,
    private readonly failed: FailedLogins,
    private readonly transactions: Transactions,
  ) {}

  noteLogin(userId: string): void {
    const lastLoginAt = Date.now();
    this.add({ userId, lastLoginAt, failures: 0, failedAt: null, failedIp: null, ipExpiresAt: null });
  }

  /** @param user undefined if no user has the email */
  noteFailure(
    reason: LoginFailure,
    user: Pick<User, 'id' | 'email'> | undefined,
    { address: failedIp }: Origin,
  ): void {
    loginFailed.emit({ reason });
    if (!user) return;
    this.failed.note(user.email, user.id);
    const failedAt = Date.now();
    const failure = { failures: 1, failedAt, failedIp, ipExpiresAt: failedAt + KEEP_IP_MS };
    this.add({ userId: user.id, lastLoginAt: null, ...failure });
  }

  private add(note: LoginNote): void {
    const notes = this.pending.get(note.userId) ?? [];
    if (!this.pending.has(note.userId) && this.pending.size >= MAX_USERS) return;
    if (note.lastLoginAt !== null) notes.length = 0;
    const last = notes.length < MAX_NOTES_OF_USER ? undefined : notes.pop();
    notes.push(last ? { ...note, failures: last.failures + note.failures } : note);
    this.pending.set(note.userId, notes);
  }

  /** Writes logins, and failures up to a time. Keeps what it could not write. */
  async write(until = Date.now() - SETTLE_MS): Promise<void> {
    const users = [...this.pending].toSorted(([a], [b]) => (a < b ? -1 : 1));
    const { due = [], early = [] } = Object.groupBy(
      users.flatMap(([, notes]) => notes),
      ({ failedAt }) => ((failedAt ?? 0) <= until ? 'due' : 'early'),
    );
    this.replacePending(early);
    let written = 0;
    try {
      for await (const batch of inBatches(due)) {
        await this.transactions.run({ principal: 'login-traces' }, (tx) => this.traces.add(tx, batch));
        written += batch.length;
      }
    } finally {
      const newer = [...this.pending.values()].flat();
      if (written < due.length) this.replacePending([...due.slice(written), ...newer]);
    }
    if (this.checkedUntil !== undefined)
      this.checkedUntil = await this.traces.deleteOrphans(this.checkedUntil);
  }

  private replacePending(notes: readonly LoginNote[]): void {
    this.pending = new Map();
    for (const note of notes) this.add(note);
  }
}
