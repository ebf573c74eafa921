import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** The login limits of an email count nothing that was admitted until then. The row goes after the window of these limits. */
@Entity('lifted_limits')
@Index('lifted_limits_lifted_at_idx', ['liftedAt'])
export class LiftedLimit {
  /** `emailKey` of the normalized email */
  @PrimaryColumn({ name: 'lift_key', type: 'varchar', length: 22 })
  liftKey: string;

  /** epoch milliseconds of the database's clock */
  @Column({ name: 'lifted_at', type: 'bigint' })
  liftedAt: number;
}
