import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Column, Entity, ForeignKey, In, Index, MoreThan, PrimaryColumn, type Repository } from 'typeorm';
import type { UniqueKey } from '../../database/transactions/database-errors.js';
import type { Transaction } from '../../database/transactions/transactions.js';
import { NO_PASSWORD_HASH, type User } from '../../users/user.entity.js';
import { LOGIN_USER, type LoginUser, type Place } from '../sessions/known-places.repository.js';

export const IDENTITIES_SUBJECT_KEY: UniqueKey = {
  name: 'PRIMARY',
  columns: 'identities.provider_id, identities.subject',
};
export const IDENTITIES_USER_KEY: UniqueKey = {
  name: 'identities_provider_id_user_id_key',
  columns: 'identities.provider_id, identities.user_id',
};

/** A user at a provider. The email is not part of it. */
@Entity('identities')
@Index(IDENTITIES_USER_KEY.name, ['providerId', 'userId'], { unique: true })
@Index('identities_user_id_idx', ['userId'])
export class Identity {
  @PrimaryColumn({ name: 'provider_id', type: 'varchar', length: 36 })
  @ForeignKey('providers', { name: 'identities_provider_id_fkey', onDelete: 'CASCADE' })
  providerId: string;

  /** the claim `sub`, or `oid` if the provider's settings say so */
  @PrimaryColumn({ type: 'varchar', length: 255 }) subject: string;

  @Column({ name: 'user_id', type: 'varchar', length: 36 })
  @ForeignKey('users', { name: 'identities_user_id_fkey', onDelete: 'CASCADE' })
  userId: string;

  @Column({ name: 'created_at', type: 'bigint' }) createdAt: number;
}

/** A provider where a user can log in. */
export interface LinkedProvider {
  name: string;
  title: string;
  subject: string;
  createdAt: number;
}

export type LinkableUser = LoginUser &
  Pick<User, 'emailVerifiedAt' | 'operatorSince'> & {
    /** subject of the user of the provider who is linked to the user */
    linkedTo: string | null;
  };

@Injectable()
export class IdentitiesRepository {
  constructor(@InjectRepository(Identity) private readonly identities: Repository<Identity>) {}

  async insert(tx: Transaction, identity: Identity): Promise<void> {
    await tx.of(this.identities).insert(identity);
  }

  /** The identities of the provider that have the user or the subject, that of the user first. */
  async findOfPair(
    tx: Transaction,
    { providerId, userId, subject }: Omit<Identity, 'createdAt'>,
  ): Promise<Identity[]> {
    const identities = tx.of(this.identities);
    const ofUser = await identities.findBy({ providerId, userId });
    return ofUser.length > 0 ? ofUser : identities.findBy({ providerId, subject });
  }

  /** In the order of the names of the providers. */
  listOfUser(userId: string, tx?: Transaction): Promise<LinkedProvider[]> {
    return (tx?.of(this.identities) ?? this.identities)
      .createQueryBuilder('i')
      .innerJoin('providers', 'p', 'p.id = i.provider_id')
      .select('p.name', 'name')
      .addSelect('p.title', 'title')
      .addSelect('i.subject', 'subject')
      .addSelect('i.created_at', 'createdAt')
      .where('i.user_id = :userId', { userId })
      .orderBy('p.name')
      .getRawMany<LinkedProvider>();
  }

  count(providerId: string, tx?: Transaction): Promise<number> {
    return (tx?.of(this.identities) ?? this.identities).countBy({ providerId });
  }

  /** Counts the users who are linked and have no password. */
  async countWithoutPassword(providerId: string): Promise<number> {
    const sql = `SELECT COUNT(*) AS number FROM identities i JOIN users u ON u.id = i.user_id
      WHERE i.provider_id = ? AND u.password_hash = ?`;
    return this.countBy(sql, [providerId, NO_PASSWORD_HASH]);
  }

  /** Counts the users with an email of the domain who are not linked. */
  async countUnlinked(providerId: string, domain: string): Promise<number> {
    const sql = `SELECT COUNT(*) AS number FROM users u LEFT JOIN identities i ON i.user_id = u.id AND i.provider_id = ?
      WHERE u.email LIKE ? AND i.user_id IS NULL`;
    return this.countBy(sql, [providerId, `%@${domain}`]);
  }

  async findUsers(providerId: string, afterUserId: string, limit: number): Promise<string[]> {
    const where = { providerId, userId: MoreThan(afterUserId) };
    const rows = await this.identities.find({
      where,
      select: { userId: true },
      order: { userId: 'ASC' },
      take: limit,
    });
    return rows.map(({ userId }) => userId);
  }

  async deleteOfUsers(tx: Transaction, providerId: string, userIds: readonly string[]): Promise<number> {
    return (await tx.of(this.identities).delete({ providerId, userId: In(userIds) })).affected ?? 0;
  }

  async deleteOfProvider(tx: Transaction, providerId: string): Promise<void> {
    await tx.of(this.identities).delete({ providerId });
  }

  /** One statement, so that the epoch is that of the moment when the identity belonged to the user. */
  async findUser(
    { providerId, subject }: Pick<Identity, 'providerId' | 'subject'>,
    { network, agent }: Place,
  ): Promise<LoginUser | undefined> {
    const sql = `SELECT ${LOGIN_USER} FROM identities i
        JOIN providers r ON r.id = i.provider_id AND r.disabled_at IS NULL
        JOIN users u ON u.id = i.user_id
      WHERE i.provider_id = ? AND i.subject = ?`;
    return (await this.identities.query<LoginUser[]>(sql, [network, agent, providerId, subject]))[0];
  }

  /** The user with an email whom a login at the provider may link. */
  async findOwner(
    providerId: string,
    email: string,
    { network, agent }: Place,
  ): Promise<LinkableUser | undefined> {
    const sql = `SELECT ${LOGIN_USER}, u.email_verified_at AS emailVerifiedAt, u.operator_since AS operatorSince,
        (SELECT i.subject FROM identities i WHERE i.provider_id = ? AND i.user_id = u.id) AS linkedTo
      FROM users u WHERE u.email = ?`;
    return (await this.identities.query<LinkableUser[]>(sql, [network, agent, providerId, email]))[0];
  }

  async deleteOfUser(tx: Transaction, userId: string): Promise<void> {
    await tx.of(this.identities).delete({ userId });
  }

  private async countBy(sql: string, values: unknown[]): Promise<number> {
    const [row] = await this.identities.query<[{ number: number }]>(sql, values);
    return row.number;
  }
}
