import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { UniqueKey } from '../database/database-errors.js';

export const SEQ_KEY: UniqueKey = { name: 'PRIMARY', columns: 'feed.seq' };
export const EVENT_KEY: UniqueKey = { name: 'feed_event_id_key', columns: 'feed.event_id' };

/** The place of an event in the feed. Places are given once, without gaps, and only the oldest are deleted. */
@Entity('feed')
@Index(EVENT_KEY.name, ['eventId'], { unique: true })
export class FeedEntry {
  @PrimaryColumn({ type: 'bigint' })
  seq: number;

  /** without a foreign key, like the record itself */
  @Column({ name: 'event_id', type: 'varchar', length: 36 })
  eventId: string;
}
