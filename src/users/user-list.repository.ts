import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { hotStatement } from '../database/statements.js';
import { emailRange } from './email-address.js';
import { User } from './user.entity.js';

export type ListedUser = Pick<
  User,
  'id' | 'email' | 'emailVerifiedAt' | 'createdAt' | 'disabledAt' | 'operatorSince' | 'secondFactorAt'
>;

/** Users whose email begins with the prefix, in its order. */
export interface UserSearch {
  prefix: string;
  /** email of the last user of the page before */
  after: string | undefined;
}

const pageBy = (column: string): string => `SELECT id, email, email_verified_at AS emailVerifiedAt,
    created_at AS createdAt, disabled_at AS disabledAt, operator_since AS operatorSince,
    second_factor_at AS secondFactorAt
  FROM users WHERE ${column} >= ? AND ${column} < ? ORDER BY ${column} LIMIT ?`;

const FIND_PAGE = hotStatement('a page of users', pageBy('email'), ['u1', 'u2', 21]);
const FIND_DISABLED = hotStatement('a page of disabled users', pageBy('disabled_email'), ['u1', 'u2', 21]);

@Injectable()
export class UserListRepository {
  constructor(@InjectRepository(User) private readonly users: Repository<User>) {}

  findPage(search: UserSearch, limit: number): Promise<ListedUser[]> {
    return this.find(FIND_PAGE, search, limit);
  }

  findDisabled(search: UserSearch, limit: number): Promise<ListedUser[]> {
    return this.find(FIND_DISABLED, search, limit);
  }

  private find(sql: string, { prefix, after }: UserSearch, limit: number): Promise<ListedUser[]> {
    return this.users.query<ListedUser[]>(sql, [...emailRange(prefix, after), limit]);
  }
}
