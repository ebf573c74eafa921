import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('orgs')
export class Org {
  @PrimaryColumn({ type: 'varchar', length: 36 })
  id: string;

  @Column({ type: 'varchar', length: 100 })
  name: string;

  /** incremented by every change of a membership, so that two of them conflict on every engine */
  @Column({ type: 'integer' })
  revision: number;

  @Column({ name: 'created_at', type: 'bigint' })
  createdAt: number;
}
