import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { principalOf } from '../../access/actor.js';
import type { Transaction } from '../../database/transaction.js';
import { Transactions } from '../../database/transactions.js';
import { EndedSessions } from './ended-sessions.js';
import { PendingRevocationsRepository } from './pending-revocations.repository.js';
import type { RevocableSession, Revocation } from './revocation.js';
import { type Descendant, PAGE, SessionsRepository } from './sessions.repository.js';
import { ToldEndings } from './told-endings.js';

/** Children of `parents` with ids greater than `after` are still to be read. */
interface Branch {
  parents: string[];
  after: string;
}

/** Bounds the ids that are kept in memory, to be marked as done with. */
const MAX_MARKED = 10_000;

// The thief of a code can derive sessions without end. So no statement grows with their number, in width or depth (a
// recursive one would), completed sessions are not searched twice, and the searches of one user take turns.
@Injectable()
export class SessionRevocation {
  private readonly last = new Map<string, Promise<void>>();

  constructor(
    private readonly sessions: SessionsRepository,
    private readonly pending: PendingRevocationsRepository,
    private readonly endings: ToldEndings,
    private readonly transactions: Transactions,
    private readonly ended: EndedSessions,
  ) {}

  /** Resolves when neither the session nor any derived from it can be alive. */
  async revoke(session: RevocableSession, revocation: Revocation): Promise<void> {
    const { id, userId } = session;
    await this.end(session, [id], revocation, (transaction) =>
      this.pending.insert(transaction, session, revocation),
    );
    const search = (): Promise<void> => this.revokeDescendants(session, revocation);
    const turn = (this.last.get(userId) ?? Promise.resolve()).then(search, search);
    this.last.set(userId, turn);
    try {
      await turn;
    } finally {
      if (this.last.get(userId) === turn) this.last.delete(userId);
    }
    await this.pending.delete(id);
    this.ended.note(userId);
  }

  async resume(before: number): Promise<void> {
    for (const { session, revocation } of await this.pending.findBefore(before)) {
      await this.revoke(session, revocation);
    }
  }

  private end(
    { userId }: RevocableSession,
    ids: readonly string[],
    revocation: Revocation,
    lastStep?: (transaction: Transaction) => Promise<void>,
  ): Promise<void> {
    return this.transactions.run(
      async (transaction) => {
        await this.endings.end(transaction, userId, ids, revocation);
        await lastStep?.(transaction);
      },
      { principal: principalOf(revocation.actor), row: userId },
    );
  }

  // While a pass runs, sessions that it has not revoked yet can get children, on another node too, so passes repeat
  // until one finds nothing. Sessions derived later have a revoked parent: they are never alive.
  private async revokeDescendants(root: RevocableSession, revocation: Revocation): Promise<void> {
    const { id: rootId } = root;
    if (await this.sessions.areDescendantsRevoked(rootId)) return;
    for (;;) {
      const found = [rootId];
      let ended = 0;
      for await (const page of this.below(rootId)) {
        const alive = page.filter(({ revokedAt }) => revokedAt === null).map(({ id }) => id);
        if (alive.length > 0) await this.end(root, alive, revocation);
        ended += alive.length;
        if (found.length < MAX_MARKED) found.push(...page.map(({ id }) => id));
      }
      if (ended === 0) return this.markDescendantsRevoked(found);
    }
  }

  private async *below(rootId: string): AsyncGenerator<Descendant[]> {
    const branches: Branch[] = [{ parents: [rootId], after: '' }];
    for (let branch = branches.pop(); branch; branch = branches.pop()) {
      const { parents, after } = branch;
      // SQLite answers within the same turn of the event loop: without a pause nothing else would run.
      await yieldToEventLoop();
      const page = await this.sessions.findChildren(parents, after);
      if (page.length === PAGE && parents.length > 1) {
        const half = parents.length >> 1;
        branches.push({ parents: parents.slice(0, half), after }, { parents: parents.slice(half), after });
        continue;
      }
      if (page.length === PAGE) branches.push({ parents, after: page.at(-1)!.id });
      if (page.length > 0) branches.push({ parents: page.map(({ id }) => id), after: '' });
      yield page;
    }
  }

  private async markDescendantsRevoked(ids: string[]): Promise<void> {
    for (let from = 0; from < ids.length; from += PAGE) {
      await yieldToEventLoop();
      await this.sessions.markDescendantsRevoked(ids.slice(from, from + PAGE));
    }
  }
}
