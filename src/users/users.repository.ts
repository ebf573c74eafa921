import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type FindOptionsWhere, In, IsNull, MoreThan, Not, type Repository } from 'typeorm';
import { idsOf, inBatches, padded, placeholders } from '../database/statements.js';
import { contains, literal, type NewestFound, searchNewest } from '../database/text-search.js';
import { isUniqueViolation, type UniqueKey } from '../database/transactions/database-errors.js';
import type { Transaction } from '../database/transactions/transactions.js';
import { isEntityId, newEntityId } from '../identifiers/entity-id.js';
import { emailRange } from './email-address.js';
import { User, USERS_EMAIL_KEY } from './user.entity.js';
import { PROFILE, PROFILE_COLUMNS, PROFILE_FIELDS, type ProfileChange, profileOf } from './profile.js';
import { USER_VIEW, type UserView } from './user-view.js';
import { Problem } from '../problems/problem.js';

export type Credentials = Pick<
  User,
  'id' | 'email' | 'passwordHash' | 'authEpoch' | 'disabledAt' | 'secondFactorAt'
>;

export type ImportedUser = Pick<User, (typeof IMPORTED)[number]>;

export type PresentUser = Pick<User, 'id' | 'email' | 'passwordHash'>;

/** `hash` is one of the users', `last` the last of their ids. MySQL counts in text. */
export type HashKind = { hash: string; users: number | string; last: string };

/** Users with a part of their email or name, without those whose email begins with `prefix`. */
export interface UserSearch {
  part: string;
  prefix: string;
  isDisabled: boolean | undefined;
}

export interface CountedPage {
  counted: number;
  last: string | null;
}

export class TakenMeanwhileError extends Error {}

const USERS_KEY: UniqueKey = { name: 'PRIMARY', columns: 'users.id' };

// Hot: TypeORM would take a tenth of the event loop's time in a login.
export const CREDENTIALS = `u.id, u.email, u.password_hash AS passwordHash, u.auth_epoch AS authEpoch,
  u.disabled_at AS disabledAt, u.second_factor_at AS secondFactorAt`;

const IMPORTED = [
  ...(['id', 'email', 'passwordHash', 'createdAt', 'emailVerifiedAt', 'revision'] as const),
  ...(['disabledAt', 'disabledEmail', 'secondFactorAt', ...PROFILE_FIELDS] as const),
];
const IMPORTED_COLUMNS = [
  'id, email, password_hash, created_at, email_verified_at, revision, disabled_at, disabled_email, second_factor_at',
  ...PROFILE_FIELDS.map((name) => PROFILE[name].column),
].join(', ');
const IMPORTED_PLACES = `(${placeholders(IMPORTED.length)})`;

const LISTED = `id, email, email_verified_at AS emailVerifiedAt, created_at AS createdAt, disabled_at AS disabledAt,
  operator_since AS operatorSince, second_factor_at AS secondFactorAt, password_changed_at AS passwordChangedAt,
  ${PROFILE_COLUMNS}`;

const LIKE_EMAIL = /^[!-~]+@[!-~]+$/;

/** What services learn of a user. */
export type DirectoryUser = Pick<User, 'id' | 'email' | 'name' | 'avatarUrl' | 'revision'> &
  Record<'emailVerified' | 'disabled', boolean>;

@Injectable()
export class UsersRepository {
  constructor(@InjectRepository(User) private readonly users: Repository<User>) {}

  async create(
    tx: Transaction,
    email: string,
    passwordHash: string,
    { emailVerifiedAt = null, ...profile }: ProfileChange & Partial<Pick<User, 'emailVerifiedAt'>> = {},
  ) {
    const known = { email, passwordHash, emailVerifiedAt, ...profileOf(profile) };
    const user = { id: newEntityId(), createdAt: Date.now(), ...known };
    try {
      await tx.of(this.users).insert({ ...user });
    } catch (error) {
      throw isUniqueViolation(error, USERS_EMAIL_KEY) ? new Problem('email_taken') : error;
    }
    return { ...user, revision: 1, authEpoch: 0 };
  }

  async insertAll(tx: Transaction, users: readonly ImportedUser[]): Promise<void> {
    try {
      await tx.write(
        `INSERT INTO users (${IMPORTED_COLUMNS}) VALUES ${users.map(() => IMPORTED_PLACES).join(', ')}`,
        users.flatMap((one) => IMPORTED.map((field) => one[field])),
      );
    } catch (error) {
      const isTaken = isUniqueViolation(error, USERS_EMAIL_KEY) || isUniqueViolation(error, USERS_KEY);
      throw isTaken ? new TakenMeanwhileError() : error;
    }
  }

  async findCredentialsById(id: string): Promise<Credentials | undefined> {
    const sql = `SELECT ${CREDENTIALS} FROM users u WHERE u.id = ?`;
    return (await this.users.query<Credentials[]>(sql, [id]))[0];
  }

  async findIdByEmail(email: string): Promise<string | undefined> {
    return (await this.users.findOne({ where: { email }, select: { id: true } }))?.id;
  }

  /** Operators with CLI access act under any name, even under an email. */
  async findActorIds(idOrEmail: string): Promise<string[]> {
    if (!LIKE_EMAIL.test(idOrEmail)) return [idOrEmail];
    // An operator may have had several emails, and an email several users.
    const sql =
      'SELECT id FROM users WHERE email = ? UNION SELECT user_id AS id FROM operator_emails WHERE email = ?';
    const found = await this.users.query<{ id: string }[]>(sql, [idOrEmail, idOrEmail]);
    return [...new Set([idOrEmail, ...idsOf(found)])];
  }

  isActive(tx: Transaction, id: string): Promise<boolean> {
    return tx.of(this.users).existsBy({ id, disabledAt: IsNull() });
  }

  findById(id: string, tx?: Transaction): Promise<UserView | null> {
    return (tx?.of(this.users) ?? this.users).findOne({ where: { id }, select: USER_VIEW });
  }

  async findAll(ids: readonly string[]): Promise<UserView[]> {
    return ids.length === 0 ? [] : this.users.find({ where: { id: In(ids) }, select: USER_VIEW });
  }

  findByEmail(email: string): Promise<UserView | null> {
    return this.users.findOne({ where: { email }, select: USER_VIEW });
  }

  async findLocaleFor(email: string, causedBy: string | null): Promise<string | null> {
    const sql = `SELECT locale FROM (SELECT 1 AS preference, locale FROM users WHERE email = ?
      UNION ALL SELECT 2 AS preference, locale FROM users WHERE id = ?) found ORDER BY preference LIMIT 1`;
    const [user] = await this.users.query<Pick<User, 'locale'>[]>(sql, [email, causedBy]);
    return user?.locale ?? null;
  }

  findForProof(id: string): Promise<Pick<User, 'id' | 'email' | 'emailVerifiedAt' | 'authEpoch'> | null> {
    return this.users.findOneBy({ id });
  }

  /** Leaves out what is not the id of a user, such as the name that an operator has in the command line. */
  async findEmailsOf(ids: readonly (string | null)[]): Promise<Map<string, string>> {
    const emails = new Map<string, string>();
    for await (const batch of inBatches([...new Set(ids)].filter(isEntityId))) {
      const asked = padded(batch, '');
      const sql = `SELECT id, email FROM users WHERE id IN (${placeholders(asked.length)})`;
      const found = await this.users.query<Pick<User, 'id' | 'email'>[]>(sql, asked);
      for (const { id, email } of found) emails.set(id, email);
    }
    return emails;
  }

  async findActiveEmails(emails: readonly string[]): Promise<string[]> {
    const where = { email: In([...new Set(emails)]), disabledAt: IsNull() };
    return (await this.users.find({ where, select: { email: true } })).map(({ email }) => email);
  }

  /** Hot: services show names on every page. */
  async findInDirectory(ids: readonly string[]): Promise<DirectoryUser[]> {
    type Row = Omit<DirectoryUser, 'emailVerified' | 'disabled'> &
      Pick<User, 'emailVerifiedAt' | 'disabledAt'>;
    const asked = padded(ids, '');
    const rows = await this.users.query<Row[]>(
      `SELECT id, email, email_verified_at AS emailVerifiedAt, name, avatar_url AS avatarUrl,
          disabled_at AS disabledAt, revision
        FROM users WHERE id IN (${placeholders(asked.length)})`,
      asked,
    );
    return rows.map(({ id, email, emailVerifiedAt, name, avatarUrl, disabledAt, revision }) => {
      const emailVerified = emailVerifiedAt !== null;
      return { id, email, emailVerified, name, avatarUrl, disabled: disabledAt !== null, revision };
    });
  }

  findAfter(id: string, limit: number): Promise<UserView[]> {
    const where = { id: MoreThan(id) };
    return this.users.find({ where, select: USER_VIEW, order: { id: 'ASC' }, take: limit });
  }

  searchNewest({ part, prefix, isDisabled }: UserSearch): Promise<NewestFound<UserView>> {
    const pattern = `%${literal(part)}%`;
    const status = isDisabled === undefined ? '' : ` AND disabled_at IS ${isDisabled ? 'NOT ' : ''}NULL`;
    return searchNewest(this.users, {
      table: 'users',
      columns: LISTED,
      where: `(${contains(this.users, 'email')} OR ${contains(this.users, 'name')}) AND email NOT LIKE ? ESCAPE '!'${status}`,
      values: [pattern, pattern, `${literal(prefix)}%`],
    });
  }

  /** Reads the whole table, because an index is not worth it for few operators. */
  findOperators(limit: number, afterEmail = ''): Promise<UserView[]> {
    return this.findWhere({ operatorSince: Not(IsNull()), email: MoreThan(afterEmail) }, limit);
  }

  async countAfter(email: string, limit: number): Promise<CountedPage> {
    const sql = `SELECT COUNT(*) AS counted, MAX(page.email) AS last
      FROM (SELECT email FROM users WHERE email > ? ORDER BY email LIMIT ?) page`;
    return (await this.users.query<[CountedPage]>(sql, [email, limit]))[0];
  }

  async findPresent(emails: readonly string[], ids: readonly string[]): Promise<PresentUser[]> {
    const found = await Promise.all([this.findBy('email', emails), this.findBy('id', ids)]);
    return found.flat();
  }

  listPage(
    { prefix, after, onlyDisabled }: { prefix: string; after: string | undefined; onlyDisabled: boolean },
    limit: number,
  ): Promise<UserView[]> {
    const column = onlyDisabled ? 'disabled_email' : 'email';
    return this.users.query<UserView[]>(
      `SELECT ${LISTED} FROM users WHERE ${column} >= ? AND ${column} < ? ORDER BY ${column} LIMIT ?`,
      [...emailRange(prefix, after), limit],
    );
  }

  /** Stores another hash of the same password, unless the password has changed since. */
  async rehashPassword({ id, passwordHash }: Credentials, replacement: string): Promise<void> {
    await this.users.update({ id, passwordHash }, { passwordHash: replacement });
  }

  async replacePasswordCheckedAt(id: string, from: number | null, to: number | null): Promise<boolean> {
    const passwordCheckedAt = from ?? IsNull();
    const { affected } = await this.users.update({ id, passwordCheckedAt }, { passwordCheckedAt: to });
    return affected === 1;
  }

  countHashKinds(afterId: string, limit: number): Promise<HashKind[]> {
    // By length and by what stands before the salt: the family, the version of argon2id, the cost.
    const sql = `SELECT MIN(h) AS hash, COUNT(*) AS users, MAX(id) AS last
      FROM (SELECT id, password_hash AS h FROM users WHERE id > ? ORDER BY id LIMIT ?) page
      GROUP BY LENGTH(h), SUBSTR(h, 1, CASE WHEN h LIKE '$argon2id$v=19$%' THEN 15 + INSTR(SUBSTR(h, 16), '$')
        ELSE INSTR(SUBSTR(h, 2), '$') + 1 + INSTR(SUBSTR(h, INSTR(SUBSTR(h, 2), '$') + 2), '$') END)`;
    return this.users.query<HashKind[]>(sql, [afterId, limit]);
  }

  private findWhere(where: FindOptionsWhere<User>, limit: number): Promise<UserView[]> {
    return this.users.find({ where, select: USER_VIEW, order: { email: 'ASC' }, take: limit });
  }

  private async findBy(column: 'email' | 'id', values: readonly string[]): Promise<PresentUser[]> {
    if (values.length === 0) return [];
    return this.users.query<PresentUser[]>(
      `SELECT id, email, password_hash AS passwordHash FROM users WHERE ${column} IN (${placeholders(values.length)})`,
      [...values],
    );
  }
}
