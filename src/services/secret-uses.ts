import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { type SecretHolder, ServiceSecretsRepository } from './service-secrets.repository.js';

const HOUR_MS = 3_600_000;
const RETRY_AFTER_MS = 60_000;
const MAX_SECRETS = 10_000;

// Notes the hour in which a secret was used last, so that operators see when one is out of use. It runs in the background:
// no request waits for it, or fails with it.
@Injectable()
export class SecretUses implements OnApplicationShutdown {
  private readonly logger = new Logger('Services');
  /** when the use of each secret is due to be noted again */
  private readonly dueAt = new LRUCache<string, number>({ max: MAX_SECRETS });
  private readonly running = new Set<Promise<void>>();

  constructor(private readonly secrets: ServiceSecretsRepository) {}

  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.running);
  }

  note({ secretId, lastUsedAt }: Pick<SecretHolder, 'secretId' | 'lastUsedAt'>, now = Date.now()): void {
    const hour = now - (now % HOUR_MS);
    if ((lastUsedAt ?? 0) >= hour || (this.dueAt.get(secretId) ?? 0) > now) return;
    this.dueAt.set(secretId, hour + HOUR_MS);
    const noting = this.secrets
      .noteUse(secretId, hour)
      .catch((error: unknown) => {
        this.dueAt.set(secretId, now + RETRY_AFTER_MS);
        this.logger.warn({ msg: 'use of a secret not noted, to be retried', secretId, err: error });
      })
      .finally(() => this.running.delete(noting));
    this.running.add(noting);
  }
}
