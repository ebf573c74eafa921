import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';

/** Where a user has logged in from: an IP network and a family of user agents. */
@Entity('known_places')
@Index('known_places_last_seen_at_idx', ['lastSeenAt'])
export class KnownPlace {
  @PrimaryColumn({ name: 'user_id', type: 'varchar', length: 36 })
  @ForeignKey('users', { name: 'known_places_user_id_fkey', onDelete: 'CASCADE' })
  userId: string;

  /** in CIDR notation: /24 of IPv4, /48 of IPv6 */
  @PrimaryColumn({ type: 'varchar', length: 49 }) network: string;
  @PrimaryColumn({ type: 'varchar', length: 40 }) agent: string;

  @Column({ name: 'first_seen_at', type: 'bigint' }) firstSeenAt: number;
  @Column({ name: 'last_seen_at', type: 'bigint' }) lastSeenAt: number;
}
