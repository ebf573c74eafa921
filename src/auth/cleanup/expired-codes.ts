import { Injectable } from '@nestjs/common';
import { AuthorizationCodesRepository } from '../codes/authorization-codes.repository.js';
import type { Batch } from './batch.js';

@Injectable()
export class ExpiredCodes {
  constructor(private readonly codes: AuthorizationCodesRepository) {}

  async deleteBatch(before: number): Promise<Batch> {
    const hashes = await this.codes.findExpired(before);
    if (hashes.length > 0) await this.codes.delete(hashes);
    return { examined: hashes.length, deleted: hashes.length };
  }
}
