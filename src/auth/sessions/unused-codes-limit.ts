import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { AuthorizationCodesRepository, MAX_UNUSED_CODES } from './authorization-codes.repository.js';

const MAX_SESSIONS = 10_000;
const LOOK_AFTER_MS = 1000;

interface Issued {
  since: number;
  lastAt: number;
}

// Deletes void and used codes of sessions that issue many. It may be late: the exchange itself refuses void codes,
// and a session that a code opened still tells of its reuse.
@Injectable()
export class UnusedCodesLimit implements OnApplicationShutdown {
  private readonly logger = new Logger('AuthorizationCodes');
  private readonly issued = new LRUCache<string, Issued>({ max: MAX_SESSIONS });
  private readonly due = new Set<string>();
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();
  private stopped = false;

  constructor(private readonly codes: AuthorizationCodesRepository) {}

  async onApplicationShutdown(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.running;
  }

  /** @returns a time after that of all other codes of the session in this process: later codes void earlier ones */
  noteIssued(sessionId: string, now: number): number {
    const known = this.issued.get(sessionId);
    const since = (known?.since ?? 0) + 1;
    const lastAt = known && known.lastAt >= now ? known.lastAt + 1 : now;
    const isMany = since > MAX_UNUSED_CODES;
    this.issued.set(sessionId, { since: isMany ? 0 : since, lastAt });
    if (isMany) this.lookLater(sessionId);
    return lastAt;
  }

  private lookLater(sessionId: string): void {
    this.due.add(sessionId);
    if (this.timer !== undefined || this.stopped) return;
    this.timer = setTimeout(() => {
      this.running = this.look();
    }, LOOK_AFTER_MS);
    this.timer.unref();
  }

  private async look(): Promise<void> {
    try {
      const sessions = [...this.due];
      this.due.clear();
      for (const sessionId of sessions) {
        await this.codes.deleteUnneeded(sessionId);
        if (this.stopped) return;
      }
    } catch (error) {
      this.logger.warn({ msg: 'unused codes could not be deleted; they will expire', err: error });
    } finally {
      this.timer = undefined;
      const [next] = this.due;
      if (next !== undefined) this.lookLater(next);
    }
  }
}
