import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { userOf } from '../access/principal.js';
import { type Transaction, Transactions } from '../database/transactions/transactions.js';
import { IdempotencyKeysRepository, KEY_RETENTION_MS } from './idempotency-keys.repository.js';
import { parseKey, type RequestKey, requestKey } from './idempotency.js';
import { ShortCircuitResponse, type Write } from './write.js';
import { writeOptions } from './write-controls.js';
import { Problem } from '../problems/problem.js';

@Injectable()
export class Writes {
  constructor(
    private readonly transactions: Transactions,
    private readonly keys: IdempotencyKeysRepository,
  ) {}

  run<Answer extends object>(
    write: Write,
    row: string,
    work: (tx: Transaction) => Promise<Answer>,
  ): Promise<Answer> {
    return this.transactions.run({ principal: write.actor.id, row }, async (tx) =>
      this.complete(tx, write, await work(tx)),
    );
  }

  /** Keeps the answer of a change whose transaction was rolled back because nothing changed, or ends a dry run. */
  async completeUnchanged(write: Write, row: string, answer: object): Promise<void> {
    if (write.key || write.dryRun) await this.run(write, row, async () => answer);
  }

  /** @throws idempotency_key_reused if a different request was answered under this key */
  async findAnswer(
    userId: string,
    key: RequestKey,
    tx?: Transaction,
  ): Promise<ShortCircuitResponse | undefined> {
    const kept = await this.keys.find(userId, key.keyHash, tx);
    if (!kept) return undefined;
    key.isExpired = kept.expiresAt <= Date.now();
    if (key.isExpired) return undefined;
    if (kept.fingerprint !== key.fingerprint) throw new Problem('idempotency_key_reused');
    const body = JSON.parse(kept.body) as object;
    return new ShortCircuitResponse(kept.status, body, { 'Idempotency-Replayed': 'true' });
  }

  /** Repeats the first answer to a request with the key. Call it after the transaction has locked the row. */
  async replay(tx: Transaction, { actor, key }: Write): Promise<void> {
    const answer = key && (await this.findAnswer(actor.id, key, tx));
    if (answer) throw answer;
  }

  /** Keeps the answer, or ends a dry run. Call it as the last step of a transaction. */
  async complete<Answer extends object>(
    tx: Transaction,
    { actor: { id: userId }, dryRun, key, status }: Write,
    answer: Answer,
  ): Promise<Answer> {
    if (dryRun) throw new ShortCircuitResponse(status, answer);
    if (!key) return answer;
    const { keyHash, fingerprint, isExpired = false } = key;
    if (isExpired) await this.keys.deleteExpired(tx, { userId, keyHash });
    const expiresAt = Date.now() + KEY_RETENTION_MS;
    const body = JSON.stringify(answer, withoutSecrets);
    await this.keys.insert(tx, { userId, keyHash, fingerprint, status, body, expiresAt });
    return answer;
  }
}

/** Codes of invitations and API keys are shown once. */
function withoutSecrets(name: string, value: unknown): unknown {
  return name === 'code' || name === 'key' ? undefined : value;
}

@Injectable()
export class ReplayGuard implements CanActivate {
  constructor(private readonly writes: Writes) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const header = request.headers['idempotency-key'];
    if (typeof header !== 'string' || writeOptions(request).idempotencyKey !== true) return true;
    const key = parseKey(header);
    // WriteControlsGuard reports a malformed key, after RolesGuard has checked the caller.
    return key === undefined || this.refuseRepeated(request, key);
  }

  private async refuseRepeated(request: FastifyRequest, text: string): Promise<true> {
    const key = requestKey(text, request);
    const answer = await this.writes.findAnswer(userOf(request).id, key);
    if (answer) throw answer;
    request.key = key;
    return true;
  }
}
