import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';

/** A one-time code, of which only the hash is kept. Times are epoch milliseconds. */
@Entity('authorization_codes')
@Index('authorization_codes_session_id_idx', ['sessionId'])
@Index('authorization_codes_purge_at_idx', ['purgeAt'])
export class AuthorizationCode {
  /** base64url of the code's SHA-256 */
  @PrimaryColumn({ type: 'varchar', length: 43 })
  hash: string;

  /** the session that issued the code */
  @Column({ name: 'session_id', type: 'varchar', length: 36 })
  @ForeignKey('sessions', { name: 'authorization_codes_session_id_fkey', onDelete: 'CASCADE' })
  sessionId: string;

  /** RFC 7636 section 4.2, method S256 */
  @Column({ name: 'code_challenge', type: 'varchar', length: 43, nullable: true })
  codeChallenge: string | null;

  @Column({ name: 'created_at', type: 'bigint' })
  createdAt: number;

  @Column({ name: 'expires_at', type: 'bigint' })
  expiresAt: number;

  @Column({ name: 'consumed_at', type: 'bigint', nullable: true })
  consumedAt: number | null;

  /** the session that the exchange opened, revoked when the code is seen again */
  @Column({ name: 'granted_session_id', type: 'varchar', length: 36, nullable: true })
  grantedSessionId: string | null;

  /** when the row has no more use: at expiry, or once used, when the granted session ends */
  @Column({ name: 'purge_at', type: 'bigint' })
  purgeAt: number;
}
