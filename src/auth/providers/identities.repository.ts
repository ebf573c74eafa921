import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Column, Entity, ForeignKey, Index, PrimaryColumn, type Repository } from 'typeorm';
import type { UniqueKey } from '../../database/transactions/database-errors.js';
import type { Transaction } from '../../database/transactions/transactions.js';

export const IDENTITIES_SUBJECT_KEY: UniqueKey = {
  name: 'PRIMARY',
  columns: 'identities.provider_id, identities.subject',
};
export const IDENTITIES_USER_KEY: UniqueKey = {
  name: 'identities_provider_id_user_id_key',
  columns: 'identities.provider_id, identities.user_id',
};

/** A user at a provider. The email is no part of it. */
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

@Injectable()
export class IdentitiesRepository {
  constructor(@InjectRepository(Identity) private readonly identities: Repository<Identity>) {}

  async deleteOfUser(tx: Transaction, userId: string): Promise<void> {
    await tx.of(this.identities).delete({ userId });
  }
}
