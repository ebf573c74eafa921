import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Transaction } from '../database/transactions/transaction.js';
import { type DeletedUser, UserParts, type UserRows } from '../users/user-parts.js';
import { IdempotencyKeysRepository } from './idempotency-keys.repository.js';

/** Exports nothing: the answers that are kept repeat other rows for a day, and name others. */
@Injectable()
export class KeysOfUser implements UserRows, OnModuleInit {
  readonly tables = ['idempotency_keys'];

  constructor(
    private readonly keys: IdempotencyKeysRepository,
    private readonly parts: UserParts,
  ) {}

  onModuleInit(): void {
    this.parts.rows.register('idempotency keys', this);
  }

  delete(transaction: Transaction, { id }: DeletedUser): Promise<void> {
    return this.keys.deleteAllOf(transaction, id);
  }
}
