import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Column, Entity, In, Index, LessThan, PrimaryColumn, type Repository } from 'typeorm';
import { BATCH, type Batch, deleteFound, NOW_MS } from '../../database/statements.js';
import { type Transaction, Transactions } from '../../database/transactions/transactions.js';
import type { Provider } from './providers.repository.js';

/** The clocks of the database and of an instance may differ. */
const KEPT_MS = 60_000;

/** A login that the provider has confirmed, until the program finishes it. */
@Entity('provider_logins')
@Index('provider_logins_expires_at_idx', ['expiresAt'])
export class ProviderLogin {
  /** a MAC over the program's challenge, keyed by the code */
  @PrimaryColumn({ type: 'varchar', length: 43 }) hash: string;
  @Column({ name: 'provider_id', type: 'varchar', length: 36 }) providerId: string;
  @Column({ type: 'varchar', length: 255 }) subject: string;
  @Column({ type: 'varchar', length: 254, nullable: true }) email: string | null;
  @Column({ name: 'email_verified', type: 'tinyint' }) emailVerified: 0 | 1;
  @Column({ type: 'varchar', length: 100, nullable: true }) name: string | null;
  /** when the user authenticated at the provider; null if the provider does not say */
  @Column({ name: 'auth_time', type: 'bigint', nullable: true }) authTime: number | null;
  @Column({ type: 'integer', default: 0 }) tries: number;
  @Column({ name: 'created_at', type: 'bigint' }) createdAt: number;
  @Column({ name: 'expires_at', type: 'bigint' }) expiresAt: number;
}

export type ConfirmedLogin = Omit<ProviderLogin, 'tries' | 'createdAt' | 'expiresAt'> &
  Pick<Provider, 'title' | 'settings'> & {
    /** its name */
    provider: string;
    /** whether the provider speaks for the domain of the email */
    isOfDomain: 0 | 1;
  };

/** from the callback on */
export const ASKED_TTL_MS = 300_000;
const MAX_TRIES = 10;

@Injectable()
export class ProviderLoginsRepository {
  constructor(
    @InjectRepository(ProviderLogin) private readonly logins: Repository<ProviderLogin>,
    private readonly transactions: Transactions,
  ) {}

  async insert(
    login: Omit<ProviderLogin, 'tries' | 'createdAt' | 'expiresAt'>,
    ttlMs: number,
  ): Promise<void> {
    const { hash, providerId, subject, email, emailVerified, name, authTime } = login;
    await this.transactions.write(
      `INSERT INTO provider_logins (hash, provider_id, subject, email, email_verified, name, auth_time, created_at,
         expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ${NOW_MS}, ${NOW_MS} + ?)`,
      [hash, providerId, subject, email, emailVerified, name, authTime, ttlMs],
    );
  }

  /** Returns undefined also if the provider is disabled. */
  async find(hash: string): Promise<ConfirmedLogin | undefined> {
    const sql = `SELECT l.hash, l.provider_id AS providerId, l.subject, l.email, l.email_verified AS emailVerified,
        l.name, l.auth_time AS authTime, r.name AS provider, r.title, r.settings,
        EXISTS (SELECT 1 FROM provider_domains d WHERE d.provider_id = r.id
          AND d.domain = SUBSTR(l.email, INSTR(l.email, '@') + 1)) AS isOfDomain
      FROM provider_logins l JOIN providers r ON r.id = l.provider_id AND r.disabled_at IS NULL
      WHERE l.hash = ?`;
    return (await this.logins.query<ConfirmedLogin[]>(sql, [hash]))[0];
  }

  /** Commits at once, so that no finish compares anything uncounted. Gives the user time for what is asked next. */
  async countTry(hash: string): Promise<boolean> {
    const sql = `UPDATE provider_logins SET tries = tries + 1, expires_at = created_at + ${ASKED_TTL_MS}
      WHERE hash = ? AND tries < ${MAX_TRIES} AND expires_at > ${NOW_MS}`;
    return (await this.transactions.write(sql, [hash])) === 1;
  }

  /** Of many finishes on many instances, one deletes the row. */
  async use(tx: Transaction, hash: string): Promise<boolean> {
    return (await tx.write('DELETE FROM provider_logins WHERE hash = ?', [hash])) === 1;
  }

  async deleteOfProvider(tx: Transaction, providerId: string): Promise<void> {
    await tx.of(this.logins).delete({ providerId });
  }

  async deleteExpired(now: number): Promise<Batch> {
    const where = { expiresAt: LessThan(now - KEPT_MS) };
    const order = { expiresAt: 'ASC' } as const;
    const expired = await this.logins.find({ where, select: { hash: true }, order, take: BATCH });
    return deleteFound(expired, async (found) => {
      await this.logins.delete({ hash: In(found.map(({ hash }) => hash)) });
    });
  }
}
