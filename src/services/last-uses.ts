import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { LRUCache } from 'lru-cache';

const HOUR_MS = 3_600_000;
const RETRY_AFTER_MS = 60_000;
const MAX_CREDENTIALS = 10_000;

interface UsedCredential {
  id: string;
  lastUsedAt: number | null;
}

/** Stores when a credential was used last, to the hour and outside of the request. */
@Injectable()
export class LastUses implements OnApplicationShutdown {
  private readonly logger = new Logger('LastUses');
  private readonly dueAt = new LRUCache<string, number>({ max: MAX_CREDENTIALS });
  private readonly running = new Set<Promise<void>>();

  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.running);
  }

  /** @param write must not move the time back: another instance may have a faster clock */
  note(
    { id, lastUsedAt }: UsedCredential,
    write: (id: string, hour: number) => Promise<void>,
    now = Date.now(),
  ): void {
    const hour = now - (now % HOUR_MS);
    if ((lastUsedAt ?? 0) >= hour || (this.dueAt.get(id) ?? 0) > now) return;
    this.dueAt.set(id, hour + HOUR_MS);
    const noting = write(id, hour)
      .catch((error: unknown) => {
        this.dueAt.set(id, now + RETRY_AFTER_MS);
        this.logger.warn({
          msg: 'use of a credential not noted, to be retried',
          credentialId: id,
          err: error,
        });
      })
      .finally(() => this.running.delete(noting));
    this.running.add(noting);
  }
}
