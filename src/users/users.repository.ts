import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, type Repository } from 'typeorm';
import { isUniqueViolation } from '../database/database-errors.js';
import { hotStatement } from '../database/hot-statements.js';
import type { Transaction } from '../database/transaction.js';
import { User, USERS_EMAIL_KEY } from './user.entity.js';
import { EmailTakenError } from './users.errors.js';

export type Credentials = Pick<User, 'id' | 'email' | 'passwordHash' | 'authEpoch' | 'disabledAt'>;

export type NewUser = Pick<User, 'id' | 'email' | 'passwordHash' | 'createdAt'>;

// Written by hand since it was measured hot: TypeORM's part is a tenth of what a login takes of the event loop.
const CREDENTIALS = `SELECT id, email, password_hash AS passwordHash, auth_epoch AS authEpoch,
  disabled_at AS disabledAt FROM users`;

const FIND_CREDENTIALS = hotStatement('the credentials of an e-mail', `${CREDENTIALS} WHERE email = ?`, ['']);
const FIND_CREDENTIALS_BY_ID = hotStatement('the credentials of a user', `${CREDENTIALS} WHERE id = ?`, ['']);

/** Takes canonical e-mails, see email-address.ts. */
@Injectable()
export class UsersRepository {
  constructor(@InjectRepository(User) private readonly users: Repository<User>) {}

  async insert(transaction: Transaction, user: NewUser): Promise<void> {
    try {
      await transaction.of(this.users).insert(user);
    } catch (error) {
      throw isUniqueViolation(error, USERS_EMAIL_KEY) ? new EmailTakenError() : error;
    }
  }

  async findCredentials(email: string): Promise<Credentials | undefined> {
    return (await this.users.query<Credentials[]>(FIND_CREDENTIALS, [email]))[0];
  }

  async findCredentialsById(id: string): Promise<Credentials | undefined> {
    return (await this.users.query<Credentials[]>(FIND_CREDENTIALS_BY_ID, [id]))[0];
  }

  async findIdByEmail(email: string): Promise<string | undefined> {
    return (await this.users.findOne({ where: { email }, select: { id: true } }))?.id;
  }

  isActive(transaction: Transaction, id: string): Promise<boolean> {
    return transaction.of(this.users).existsBy({ id, disabledAt: IsNull() });
  }

  /** Does nothing when the password was changed meanwhile. */
  async replacePasswordHash(id: string, from: string, to: string): Promise<void> {
    await this.users.update({ id, passwordHash: from }, { passwordHash: to });
  }
}
