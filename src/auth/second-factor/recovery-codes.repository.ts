import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Column, Entity, ForeignKey, IsNull, PrimaryColumn, type Repository } from 'typeorm';
import type { Transaction } from '../../database/transactions/transactions.js';

@Entity('recovery_codes')
export class RecoveryCode {
  @PrimaryColumn({ name: 'user_id', type: 'varchar', length: 36 })
  @ForeignKey('users', { name: 'recovery_codes_user_id_fkey', onDelete: 'CASCADE' })
  userId: string;

  /** SHA-256, which is enough for 128 random bits */
  @PrimaryColumn({ type: 'varchar', length: 43 })
  hash: string;

  @Column({ name: 'used_at', type: 'bigint', nullable: true })
  usedAt: number | null;
}

@Injectable()
export class RecoveryCodesRepository {
  constructor(@InjectRepository(RecoveryCode) private readonly codes: Repository<RecoveryCode>) {}

  isUnused(userId: string, hash: string): Promise<boolean> {
    return this.codes.existsBy({ userId, hash, usedAt: IsNull() });
  }

  countUnused(userId: string): Promise<number> {
    return this.codes.countBy({ userId, usedAt: IsNull() });
  }

  async use(transaction: Transaction, userId: string, hash: string): Promise<boolean> {
    const used = await transaction.write(
      'UPDATE recovery_codes SET used_at = ? WHERE user_id = ? AND hash = ? AND used_at IS NULL',
      [Date.now(), userId, hash],
    );
    return used === 1;
  }

  async replaceAll(transaction: Transaction, userId: string, hashes: readonly string[]): Promise<void> {
    await this.delete(transaction, userId);
    await transaction.of(this.codes).insert(hashes.map((hash) => ({ userId, hash })));
  }

  async delete(transaction: Transaction, userId: string): Promise<void> {
    await transaction.write('DELETE FROM recovery_codes WHERE user_id = ?', [userId]);
  }
}
