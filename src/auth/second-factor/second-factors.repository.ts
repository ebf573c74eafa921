import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Column, Entity, ForeignKey, IsNull, MoreThan, PrimaryColumn, type Repository } from 'typeorm';
import type { Transaction } from '../../database/transactions/transactions.js';
import { isUniqueViolation, type UniqueKey } from '../../database/transactions/database-errors.js';
import { SecondFactorFailuresRepository } from './second-factor-failures.repository.js';

@Entity('recovery_codes')
export class RecoveryCode {
  @PrimaryColumn({ name: 'user_id', type: 'varchar', length: 36 })
  @ForeignKey('users', { name: 'recovery_codes_user_id_fkey', onDelete: 'CASCADE' })
  userId: string;

  /** SHA-256, which is enough for 128 random bits */
  @PrimaryColumn({ type: 'varchar', length: 43 }) hash: string;
  @Column({ name: 'used_at', type: 'bigint', nullable: true }) usedAt: number | null;
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

  async use(tx: Transaction, userId: string, hash: string): Promise<boolean> {
    const sql = 'UPDATE recovery_codes SET used_at = ? WHERE user_id = ? AND hash = ? AND used_at IS NULL';
    return (await tx.write(sql, [Date.now(), userId, hash])) === 1;
  }

  async replaceAll(tx: Transaction, userId: string, hashes: readonly string[]): Promise<void> {
    await this.delete(tx, userId);
    await tx.of(this.codes).insert(hashes.map((hash) => ({ userId, hash })));
  }

  async delete(tx: Transaction, userId: string): Promise<void> {
    await tx.write('DELETE FROM recovery_codes WHERE user_id = ?', [userId]);
  }
}

export const SECOND_FACTORS_KEY: UniqueKey = { name: 'PRIMARY', columns: 'second_factors.user_id' };

/** A TOTP secret (RFC 6238), pending until the user confirms it with a code. Times are epoch milliseconds. */
@Entity('second_factors')
export class SecondFactor {
  @PrimaryColumn({ name: 'user_id', type: 'varchar', length: 36 })
  @ForeignKey('users', { name: 'second_factors_user_id_fkey', onDelete: 'CASCADE' })
  userId: string;

  @Column({ type: 'varchar', length: 200, select: false }) secret: string;

  /** the latest step of 30 seconds whose code was used; earlier steps are void as well */
  @Column({ name: 'last_step', type: 'bigint', default: 0 }) lastStep: number;

  /** null while pending; `users.second_factor_at` repeats it */
  @Column({ name: 'enabled_at', type: 'bigint', nullable: true }) enabledAt: number | null;
  @Column({ name: 'pending_until', type: 'bigint', nullable: true }) pendingUntil: number | null;
}

export type StoredSecret = Pick<SecondFactor, 'secret' | 'lastStep'>;

export type EnabledFactor = StoredSecret & { enabledAt: number };

export type PendingFactor = StoredSecret & { pendingUntil: number };

const ENCRYPTED_AT_ONCE = 500;

@Injectable()
export class SecondFactorsRepository {
  constructor(@InjectRepository(SecondFactor) private readonly factors: Repository<SecondFactor>) {}

  async findEnabled(userId: string): Promise<EnabledFactor | undefined> {
    const sql = `SELECT secret, last_step AS lastStep, enabled_at AS enabledAt
      FROM second_factors WHERE user_id = ? AND enabled_at IS NOT NULL`;
    return (await this.factors.query<EnabledFactor[]>(sql, [userId]))[0];
  }

  async findPending(userId: string): Promise<PendingFactor | undefined> {
    const sql = `SELECT secret, last_step AS lastStep, pending_until AS pendingUntil
      FROM second_factors WHERE user_id = ? AND enabled_at IS NULL AND pending_until > ?`;
    return (await this.factors.query<PendingFactor[]>(sql, [userId, Date.now()]))[0];
  }

  async putPending(
    tx: Transaction,
    userId: string,
    { secret, pendingUntil }: { secret: string; pendingUntil: number },
  ): Promise<boolean> {
    const sql = `UPDATE second_factors SET secret = ?, last_step = 0, pending_until = ?
      WHERE user_id = ? AND enabled_at IS NULL`;
    const replace = async () => (await tx.write(sql, [secret, pendingUntil, userId])) === 1;
    if (await replace()) return true;
    try {
      await tx.of(this.factors).insert({ userId, secret, pendingUntil });
      return true;
    } catch (error) {
      if (!isUniqueViolation(error, SECOND_FACTORS_KEY)) throw error;
      return replace();
    }
  }

  async insertEnabled(
    tx: Transaction,
    factors: readonly Pick<SecondFactor, 'userId' | 'secret' | 'lastStep' | 'enabledAt'>[],
  ): Promise<void> {
    const sql = `INSERT INTO second_factors (user_id, secret, last_step, enabled_at)
      VALUES ${factors.map(() => '(?, ?, ?, ?)').join(', ')}`;
    await tx.write(
      sql,
      factors.flatMap(({ userId, secret, lastStep, enabledAt }) => [userId, secret, lastStep, enabledAt]),
    );
  }

  async enable(
    tx: Transaction,
    userId: string,
    { pendingUntil, enabledAt, step }: { pendingUntil: number; enabledAt: number; step: number },
  ): Promise<boolean> {
    const sql = `UPDATE second_factors SET enabled_at = ?, pending_until = NULL, last_step = ?
      WHERE user_id = ? AND enabled_at IS NULL AND pending_until = ? AND last_step < ?`;
    return (await tx.write(sql, [enabledAt, step, userId, pendingUntil, step])) === 1;
  }

  // RFC 6238 section 5.2: one request uses a step. A code of a removed factor is void for the next one (`enabledAt`).
  async useStep(
    tx: Transaction,
    userId: string,
    { step, enabledAt }: { step: number; enabledAt: number },
  ): Promise<boolean> {
    const sql =
      'UPDATE second_factors SET last_step = ? WHERE user_id = ? AND enabled_at = ? AND last_step < ?';
    return (await tx.write(sql, [step, userId, enabledAt, step])) === 1;
  }

  async findSecrets(afterUserId: string): Promise<{ id: string; secret: string }[]> {
    const page = await this.factors.find({
      where: { userId: MoreThan(afterUserId) },
      select: { userId: true, secret: true },
      order: { userId: 'ASC' },
      take: ENCRYPTED_AT_ONCE,
    });
    return page.map(({ userId, secret }) => ({ id: userId, secret }));
  }

  async replaceSecret(userId: string, secret: string, replacement: string): Promise<void> {
    await this.factors.update({ userId, secret }, { secret: replacement });
  }

  async delete(tx: Transaction, userId: string): Promise<void> {
    await tx.write('DELETE FROM second_factors WHERE user_id = ?', [userId]);
  }
}

@Injectable()
export class SecondFactorRows {
  constructor(
    private readonly factors: SecondFactorsRepository,
    private readonly failures: SecondFactorFailuresRepository,
    private readonly recoveryCodes: RecoveryCodesRepository,
  ) {}

  async delete(tx: Transaction, userId: string): Promise<void> {
    await this.factors.delete(tx, userId);
    await this.failures.delete(tx, userId);
    await this.recoveryCodes.delete(tx, userId);
  }
}
