import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { isUniqueViolation, type UniqueKey } from '../database/transactions/database-errors.js';
import { places } from '../database/statements.js';
import type { Transaction } from '../database/transactions/transaction.js';
import { User, USERS_EMAIL_KEY } from './user.entity.js';

export interface ImportedUser {
  id: string;
  email: string;
  passwordHash: string;
  emailVerifiedAt: number | null;
  createdAt: number;
}

export type PresentUser = Pick<User, 'id' | 'email' | 'passwordHash'>;

const USERS_KEY: UniqueKey = { name: 'PRIMARY', columns: 'users.id' };

/** One of the emails or ids was taken meanwhile; nothing was inserted. */
export class TakenMeanwhileError extends Error {}

@Injectable()
export class ImportedUsersRepository {
  constructor(@InjectRepository(User) private readonly users: Repository<User>) {}

  async findPresent(emails: readonly string[], ids: readonly string[]): Promise<PresentUser[]> {
    const found = await Promise.all([this.findBy('email', emails), this.findBy('id', ids)]);
    return found.flat();
  }

  async insert(transaction: Transaction, users: readonly ImportedUser[]): Promise<void> {
    try {
      await transaction.write(
        `INSERT INTO users (id, email, password_hash, created_at, email_verified_at)
          VALUES ${users.map(() => '(?, ?, ?, ?, ?)').join(', ')}`,
        users.flatMap(({ id, email, passwordHash, createdAt, emailVerifiedAt }) => [
          id,
          email,
          passwordHash,
          createdAt,
          emailVerifiedAt,
        ]),
      );
    } catch (error) {
      const isTaken = isUniqueViolation(error, USERS_EMAIL_KEY) || isUniqueViolation(error, USERS_KEY);
      throw isTaken ? new TakenMeanwhileError() : error;
    }
  }

  private async findBy(column: 'email' | 'id', values: readonly string[]): Promise<PresentUser[]> {
    if (values.length === 0) return [];
    return this.users.query<PresentUser[]>(
      `SELECT id, email, password_hash AS passwordHash FROM users WHERE ${column} IN (${places(values.length)})`,
      [...values],
    );
  }
}
