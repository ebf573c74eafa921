import { Injectable } from '@nestjs/common';
import type { Transaction } from '../database/transaction.js';
import { ShortCircuitResponse } from './short-circuit-response.js';
import { IdempotencyKeysRepository } from './idempotency-keys.repository.js';
import type { RequestKey } from './request-key.js';
import type { Write } from './write.js';
import { IdempotencyKeyReusedError } from './writes.errors.js';

const RETENTION_MS = 86_400_000;

@Injectable()
export class RepeatedRequests {
  constructor(private readonly keys: IdempotencyKeysRepository) {}

  /** @throws IdempotencyKeyReusedError when a different request was answered under this key */
  async findAnswer(userId: string, key: RequestKey): Promise<ShortCircuitResponse | undefined> {
    const kept = await this.keys.find(userId, key.keyHash);
    if (!kept) return undefined;
    key.isExpired = kept.expiresAt <= Date.now();
    if (key.isExpired) return undefined;
    if (kept.fingerprint !== key.fingerprint) throw new IdempotencyKeyReusedError();
    return new ShortCircuitResponse(kept.status, JSON.parse(kept.body) as object, {
      'Idempotency-Replayed': 'true',
    });
  }

  /** Runs in the transaction of the change, so that both take effect or neither. */
  async keep(
    transaction: Transaction,
    { actor: { id: userId }, status }: Write,
    { keyHash, fingerprint, isExpired = false }: RequestKey,
    answer: object,
  ): Promise<void> {
    if (isExpired) await this.keys.deleteExpired(transaction, { userId, keyHash });
    const expiresAt = Date.now() + RETENTION_MS;
    const body = JSON.stringify(answer, withoutCodes);
    await this.keys.insert(transaction, { userId, keyHash, fingerprint, status, body, expiresAt });
  }
}

/** Leaves out codes, each of which is shown only once. */
function withoutCodes(name: string, value: unknown): unknown {
  return name === 'code' ? undefined : value;
}
