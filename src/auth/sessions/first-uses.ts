import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { SharedStatement } from '../../database/shared-statement.js';
import type { RefreshToken } from '../tokens/token-issuer.js';
import { SessionRefreshRepository } from './sessions.refresh.js';

const MAX_PENDING = 10_000;

/** Notes in the background which tokens were used. If a note cannot be written, the next request with the token repeats it. */
@Injectable()
export class FirstUses implements OnApplicationShutdown {
  private readonly pending = new Map<string, Promise<unknown>>();
  private readonly marks: SharedStatement<RefreshToken, void>;

  constructor(sessions: SessionRefreshRepository) {
    this.marks = new SharedStatement((used) => sessions.markUsed(used));
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.pending.values());
  }

  note(used: RefreshToken): void {
    const { sessionId } = used;
    if (this.pending.has(sessionId) || this.pending.size >= MAX_PENDING) return;
    const mark = this.marks.run(used).catch(() => undefined);
    this.pending.set(
      sessionId,
      mark.finally(() => this.pending.delete(sessionId)),
    );
  }
}
