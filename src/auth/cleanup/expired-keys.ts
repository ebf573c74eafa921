import { Injectable } from '@nestjs/common';
import { IdempotencyKeysRepository } from '../../writes/idempotency-keys.repository.js';
import { BATCH, type Batch } from './batch.js';

@Injectable()
export class ExpiredKeys {
  constructor(private readonly keys: IdempotencyKeysRepository) {}

  async deleteBatch(now: number): Promise<Batch> {
    const expired = await this.keys.findExpired(now, BATCH);
    if (expired.length > 0) await this.keys.delete(expired);
    return { examined: expired.length, deleted: expired.length };
  }
}
