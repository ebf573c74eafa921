import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Transaction } from '../database/transactions/transaction.js';
import { parseKey, type RequestKey, requestKey, ShortCircuitResponse } from './request-key.js';
import { IdempotencyKeysRepository } from './idempotency-keys.repository.js';
import { type Write, writeOptions } from './write.js';
import { IdempotencyKeyReusedError } from './entity-tags.js';
import { userOf } from '../access/principal.js';

const RETENTION_MS = 86_400_000;

@Injectable()
export class RepeatedRequests {
  constructor(private readonly keys: IdempotencyKeysRepository) {}

  /** @throws IdempotencyKeyReusedError when a different request was answered under this key */
  async findAnswer(
    userId: string,
    key: RequestKey,
    transaction?: Transaction,
  ): Promise<ShortCircuitResponse | undefined> {
    const kept = await this.keys.find(userId, key.keyHash, transaction);
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

/** Repeats the first answer to a request with the same key, before anything else is checked about it. */
@Injectable()
export class ReplayGuard implements CanActivate {
  constructor(private readonly repeated: RepeatedRequests) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const header = request.headers['idempotency-key'];
    if (typeof header !== 'string' || writeOptions(request).idempotencyKey !== true) return true;
    const key = parseKey(header);
    // A malformed key is reported later, when it is known whether the caller may be told.
    return key === undefined || this.refuseRepeated(request, key);
  }

  private async refuseRepeated(request: FastifyRequest, text: string): Promise<true> {
    const key = requestKey(text, request);
    const answer = await this.repeated.findAnswer(userOf(request).id, key);
    if (answer) throw answer;
    request.key = key;
    return true;
  }
}
