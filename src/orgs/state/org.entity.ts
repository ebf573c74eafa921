import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** in Unicode code points, as MySQL counts the column */
export const MAX_ORG_NAME = 100;

@Entity('orgs')
@Index('orgs_purge_at_idx', ['purgeAt'])
@Index('orgs_name_idx', ['name', 'id'])
@Index('orgs_deleted_name_idx', ['deletedName', 'id'])
export class Org {
  @PrimaryColumn({ type: 'varchar', length: 36 })
  id: string;

  @Column({ type: 'varchar', length: MAX_ORG_NAME })
  name: string;

  /** incremented by every change of a membership, so that two of them conflict on every engine */
  @Column({ type: 'integer' })
  revision: number;

  @Column({ name: 'created_at', type: 'bigint' })
  createdAt: number;

  /** epoch milliseconds; since then hidden from every user, but it can be restored */
  @Column({ name: 'deleted_at', type: 'bigint', nullable: true })
  deletedAt: number | null;

  /** the name while the organization is deleted, by whose index the few of them are listed */
  @Column({ name: 'deleted_name', type: 'varchar', length: MAX_ORG_NAME, nullable: true })
  deletedName: string | null;

  /** epoch milliseconds; from then on it cannot be restored */
  @Column({ name: 'purge_at', type: 'bigint', nullable: true })
  purgeAt: number | null;

  /** epoch milliseconds; once set, rows are missing, so that no instance may restore it, whatever its clock says */
  @Column({ name: 'purge_began_at', type: 'bigint', nullable: true })
  purgeBeganAt: number | null;
}
