import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, IsNull, MoreThan, Not, type Repository } from 'typeorm';
import { isUniqueViolation } from '../database/transactions/database-errors.js';
import { hotStatement } from '../database/statements.js';
import type { Transaction } from '../database/transactions/transaction.js';
import { User, USERS_EMAIL_KEY } from './user.entity.js';
import { EmailTakenError } from './users.errors.js';

export type Credentials = Pick<
  User,
  'id' | 'email' | 'passwordHash' | 'authEpoch' | 'disabledAt' | 'secondFactorAt'
>;

export type NewUser = Pick<User, 'id' | 'email' | 'passwordHash' | 'createdAt'>;

/** The columns that operators see, never the hash of the password. */
export type UserProfile = Pick<
  User,
  | 'id'
  | 'email'
  | 'createdAt'
  | 'disabledAt'
  | 'emailVerifiedAt'
  | 'passwordChangedAt'
  | 'secondFactorAt'
  | 'operatorSince'
>;

const PROFILE = {
  id: true,
  email: true,
  createdAt: true,
  disabledAt: true,
  emailVerifiedAt: true,
  passwordChangedAt: true,
  secondFactorAt: true,
  operatorSince: true,
} as const;

// Written by hand since it was measured hot: TypeORM's part is a tenth of what a login takes of the event loop.
const CREDENTIALS = `SELECT id, email, password_hash AS passwordHash, auth_epoch AS authEpoch,
  disabled_at AS disabledAt, second_factor_at AS secondFactorAt FROM users`;

const FIND_CREDENTIALS = hotStatement('the credentials of an e-mail', `${CREDENTIALS} WHERE email = ?`);
const FIND_CREDENTIALS_BY_ID = hotStatement('the credentials of a user', `${CREDENTIALS} WHERE id = ?`);

/** Takes canonical emails, see email-address.ts. */
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

  findById(id: string): Promise<UserProfile | null> {
    return this.users.findOne({ where: { id }, select: PROFILE });
  }

  findByEmail(email: string): Promise<UserProfile | null> {
    return this.users.findOne({ where: { email }, select: PROFILE });
  }

  findForProof(id: string): Promise<Pick<User, 'id' | 'email' | 'emailVerifiedAt' | 'authEpoch'> | null> {
    return this.users.findOne({
      where: { id },
      select: { id: true, email: true, emailVerifiedAt: true, authEpoch: true },
    });
  }

  findActiveIn(transaction: Transaction, email: string): Promise<UserProfile | null> {
    return transaction.of(this.users).findOne({ where: { email, disabledAt: IsNull() }, select: PROFILE });
  }

  async findActiveEmails(emails: readonly string[]): Promise<string[]> {
    const where = { email: In([...new Set(emails)]), disabledAt: IsNull() };
    return (await this.users.find({ where, select: { email: true } })).map(({ email }) => email);
  }

  search(text: string, limit: number, afterEmail = ''): Promise<UserProfile[]> {
    const literal = text.toLowerCase().replaceAll(/[!%_]/g, '!$&');
    return this.users
      .createQueryBuilder('u')
      .select(Object.keys(PROFILE).map((column) => `u.${column}`))
      .where("u.email > :afterEmail AND u.email LIKE :pattern ESCAPE '!'", {
        afterEmail,
        pattern: `%${literal}%`,
      })
      .orderBy('u.email')
      .limit(limit)
      .getMany();
  }

  findPage(limit: number, afterEmail = ''): Promise<UserProfile[]> {
    const where = { email: MoreThan(afterEmail) };
    return this.users.find({ where, select: PROFILE, order: { email: 'ASC' }, take: limit });
  }

  /** Reads the whole table, which has no index for the few of them. */
  findOperators(limit: number, afterEmail = ''): Promise<UserProfile[]> {
    const where = { operatorSince: Not(IsNull()), email: MoreThan(afterEmail) };
    return this.users.find({ where, select: PROFILE, order: { email: 'ASC' }, take: limit });
  }

  /** Stores another hash of the same password; does nothing when the password was changed meanwhile. */
  async rehashPassword(id: string, from: string, to: string): Promise<void> {
    await this.users.update({ id, passwordHash: from }, { passwordHash: to });
  }
}
