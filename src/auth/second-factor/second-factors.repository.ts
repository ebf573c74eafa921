import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { MoreThan, type Repository } from 'typeorm';
import { isUniqueViolation } from '../../database/database-errors.js';
import { hotStatement } from '../../database/hot-statements.js';
import { padded, places } from '../../database/lookup.js';
import type { Transaction } from '../../database/transaction.js';
import type { SealedRow } from '../tokens/sealed-parts.js';
import type { Credentials } from '../../users/users.repository.js';
import type { FailedCount } from './failed-attempts.repository.js';
import { SECOND_FACTORS_KEY, SecondFactor } from './second-factor.entity.js';

export type StoredFactor = Omit<SecondFactor, 'userId'>;

export type ComparedFactor = Omit<StoredFactor, 'pendingUntil'>;

/** A user who logs in, as the transaction of the attempt finds them. */
export type FactorOfUser = Omit<Credentials, 'passwordHash'> & {
  /** undefined if there is none, whatever `secondFactorAt` says */
  factor: ComparedFactor | undefined;
  /** of logins; undefined before the first */
  attempts: FailedCount | undefined;
};

export interface UsedStep {
  userId: string;
  step: number;
  /** when the factor was enabled */
  enabledAt: number;
}

type FactorOfUserRow = Omit<Credentials, 'passwordHash'> &
  Omit<ComparedFactor, 'secret'> & { secret: string | null; count: number | null; since: number };

const SEALED_AT_ONCE = 500;

const FIND = hotStatement(
  'the second factor of a user',
  `SELECT secret, last_step AS lastStep, enabled_at AS enabledAt, pending_until AS pendingUntil
    FROM second_factors WHERE user_id = ?`,
  [''],
);

const findWithUsers = (users: number): string =>
  `SELECT u.id, u.email, u.auth_epoch AS authEpoch, u.disabled_at AS disabledAt, u.second_factor_at AS secondFactorAt,
      f.secret, f.last_step AS lastStep, f.enabled_at AS enabledAt, a.count, a.since
    FROM users u LEFT JOIN second_factors f ON f.user_id = u.id
      LEFT JOIN second_factor_failures a ON a.user_id = u.id AND a.scope = 'login'
    WHERE u.id IN (${places(users)})`;
hotStatement('users who log in with a second factor', findWithUsers(2), ['', '']);

const useOf = (steps: number): string => `UPDATE second_factors
  SET last_step = CASE user_id${' WHEN ? THEN ?'.repeat(steps)} END
  WHERE ${Array(steps).fill('(user_id = ? AND enabled_at = ? AND last_step < ?)').join(' OR ')}`;

@Injectable()
export class SecondFactorsRepository {
  constructor(@InjectRepository(SecondFactor) private readonly factors: Repository<SecondFactor>) {}

  async find(userId: string): Promise<StoredFactor | undefined> {
    return (await this.factors.query<StoredFactor[]>(FIND, [userId]))[0];
  }

  async findWithUsers(transaction: Transaction, userIds: readonly string[]): Promise<FactorOfUser[]> {
    const asked = padded(userIds, '');
    const rows = await transaction.read<FactorOfUserRow>(findWithUsers(asked.length), asked);
    return rows.map(factorOfUser);
  }

  /** Replaces a pending one. Returns false if one is enabled. */
  async putPending(
    transaction: Transaction,
    userId: string,
    pending: { secret: string; pendingUntil: number },
  ): Promise<boolean> {
    const { secret, pendingUntil } = pending;
    const replace = async (): Promise<boolean> => {
      const replaced = await transaction.write(
        'UPDATE second_factors SET secret = ?, last_step = 0, pending_until = ? WHERE user_id = ? AND enabled_at IS NULL',
        [secret, pendingUntil, userId],
      );
      return replaced === 1;
    };
    if (await replace()) return true;
    try {
      await transaction.of(this.factors).insert({ userId, secret, pendingUntil });
      return true;
    } catch (error) {
      if (!isUniqueViolation(error, SECOND_FACTORS_KEY)) throw error;
      return replace();
    }
  }

  /** Enables the one that is pending until that very moment, and uses its step up. */
  async enable(
    transaction: Transaction,
    userId: string,
    { pendingUntil, enabledAt, step }: { pendingUntil: number; enabledAt: number; step: number },
  ): Promise<boolean> {
    const enabled = await transaction.write(
      `UPDATE second_factors SET enabled_at = ?, pending_until = NULL, last_step = ?
        WHERE user_id = ? AND enabled_at IS NULL AND pending_until = ? AND last_step < ?`,
      [enabledAt, step, userId, pendingUntil, step],
    );
    return enabled === 1;
  }

  /**
   * RFC 6238 section 5.2: of all requests, one alone uses a step of this very factor, or a later one. Returns true if that
   * was so for each of these, which are of different users.
   */
  async useSteps(transaction: Transaction, steps: readonly UsedStep[]): Promise<boolean> {
    const used = await transaction.write(useOf(steps.length), [
      ...steps.flatMap(({ userId, step }) => [userId, step]),
      ...steps.flatMap(({ userId, step, enabledAt }) => [userId, enabledAt, step]),
    ]);
    return used === steps.length;
  }

  async findSealed(afterUserId: string): Promise<SealedRow[]> {
    const found = await this.factors.find({
      where: { userId: MoreThan(afterUserId) },
      select: { userId: true, secret: true },
      order: { userId: 'ASC' },
      take: SEALED_AT_ONCE,
    });
    return found.map(({ userId, secret }) => ({ rowKey: userId, sealed: secret }));
  }

  /** Does nothing where the secret has changed since. */
  async replaceSealed({ rowKey, sealed }: SealedRow, secret: string): Promise<void> {
    await this.factors.update({ userId: rowKey, secret: sealed }, { secret });
  }

  async delete(transaction: Transaction, userId: string): Promise<void> {
    await transaction.write('DELETE FROM second_factors WHERE user_id = ?', [userId]);
  }
}

function factorOfUser({ secret, lastStep, enabledAt, count, since, ...user }: FactorOfUserRow): FactorOfUser {
  return {
    ...user,
    factor: secret === null ? undefined : { secret, lastStep, enabledAt },
    attempts: count === null ? undefined : { count, since },
  };
}
