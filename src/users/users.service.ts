import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { isUniqueViolation } from '../database/database-errors.js';
import type { Transaction } from '../database/transaction.js';
import { newEntityId } from '../identifiers/entity-id.js';
import { User, USERS_EMAIL_KEY } from './user.entity.js';
import { EmailTakenError } from './users.errors.js';

export interface UserRow {
  id: string;
  email: string;
}

export interface UserCredentials extends UserRow {
  passwordHash: string;
}

export const FIND_CREDENTIALS = 'SELECT id, email, password_hash AS passwordHash FROM users WHERE email = ?';

/** E-mails are given in canonical form, see email-address.ts. */
@Injectable()
export class UsersService {
  constructor(@InjectRepository(User) private readonly users: Repository<User>) {}

  /** @throws EmailTakenError */
  async create(transaction: Transaction, email: string, passwordHash: string): Promise<UserRow> {
    const id = newEntityId();
    try {
      await transaction.write(
        'INSERT INTO users (id, email, password_hash, created_at) VALUES (?, ?, ?, ?)',
        [id, email, passwordHash, Date.now()],
      );
    } catch (error) {
      throw isUniqueViolation(error, USERS_EMAIL_KEY) ? new EmailTakenError() : error;
    }
    return { id, email };
  }

  async findCredentials(email: string): Promise<UserCredentials | undefined> {
    const rows = await this.users.query<UserCredentials[]>(FIND_CREDENTIALS, [email]);
    return rows[0];
  }

  /** Does nothing when the password was changed meanwhile. */
  async replacePasswordHash(userId: string, from: string, to: string): Promise<void> {
    await this.users.query('UPDATE users SET password_hash = ? WHERE id = ? AND password_hash = ?', [
      to,
      userId,
      from,
    ]);
  }
}
