import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Column, Entity, In, PrimaryColumn, type Repository } from 'typeorm';
import { NOW_MS } from '../../database/statements.js';

const MAX_HOST_LENGTH = 255;
const MAX_KEYS_LENGTH = 4000;

/** A process that serves. Times are epoch milliseconds of the database's clock. */
@Entity('instances')
export class Instance {
  @PrimaryColumn({ type: 'varchar', length: 36 }) id: string;
  @Column({ type: 'varchar', length: MAX_HOST_LENGTH }) host: string;
  /** of the primary for a worker of WEB_CONCURRENCY */
  @Column({ type: 'integer' }) pid: number;

  /** the sorted thumbprints (RFC 7638), separated by a space */
  @Column({ name: 'key_set', type: 'varchar', length: MAX_KEYS_LENGTH }) keySet: string;
  /** the thumbprint of the key that signs */
  @Column({ name: 'signing_key', type: 'varchar', length: 43 }) signingKey: string;

  /** milliseconds by which its clock is ahead of the database's, as two readings agree; null on SQLite */
  @Column({ name: 'clock_offset', type: 'bigint', nullable: true }) clockOffset: number | null;
  @Column({ name: 'clock_reading', type: 'bigint', nullable: true }) clockReading: number | null;

  /** 1 if it has rate limits and shares none of them */
  @Column({ name: 'counts_alone', type: 'tinyint' }) countsAlone: 0 | 1;

  @Column({ name: 'started_at', type: 'bigint' }) startedAt: number;
  @Column({ name: 'seen_at', type: 'bigint' }) seenAt: number;

  /** since when live instances have had different keys */
  @Column({ name: 'differs_since', type: 'bigint', nullable: true }) differsSince: number | null;
}

/** Three heartbeats. */
const LIVE_FOR_MS = 45_000;
const KEPT_FOR_MS = 3_600_000;

/** An instance as it describes itself. */
export type OwnInstance = Omit<Instance, 'startedAt' | 'seenAt' | 'differsSince'>;

export interface LiveInstance extends Omit<Instance, 'seenAt'> {
  now: number;
}

export const FIND_LIVE = `SELECT id, host, pid, key_set AS keySet, signing_key AS signingKey,
    clock_offset AS clockOffset, clock_reading AS clockReading, counts_alone AS countsAlone,
    started_at AS startedAt, differs_since AS differsSince, ${NOW_MS} AS now
  FROM instances WHERE seen_at > ${NOW_MS} - ${LIVE_FOR_MS} ORDER BY id`;

@Injectable()
export class InstancesRepository {
  constructor(@InjectRepository(Instance) private readonly instances: Repository<Instance>) {}

  async insert(own: OwnInstance): Promise<void> {
    const sql = `INSERT INTO instances
      (key_set, signing_key, clock_offset, clock_reading, id, host, pid, counts_alone, started_at, seen_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ${NOW_MS}, ${NOW_MS})`;
    const host = own.host.slice(0, MAX_HOST_LENGTH);
    await this.instances.query(sql, [...changingValues(own), own.id, host, own.pid, own.countsAlone]);
  }

  async update(own: OwnInstance): Promise<void> {
    const sql = `UPDATE instances SET key_set = ?, signing_key = ?, clock_offset = ?, clock_reading = ?, seen_at = ${NOW_MS}
      WHERE id = ?`;
    await this.instances.query(sql, [...changingValues(own), own.id]);
  }

  findLive(): Promise<LiveInstance[]> {
    return this.instances.query<LiveInstance[]>(FIND_LIVE);
  }

  async findTime(): Promise<number> {
    const [row] = await this.instances.query<{ now: number }[]>(`SELECT ${NOW_MS} AS now`);
    return row!.now;
  }

  async setDiffersSince(ids: readonly string[], differsSince: number | null): Promise<void> {
    await this.instances.update({ id: In([...ids]) }, { differsSince });
  }

  async delete(ids: readonly string[]): Promise<void> {
    await this.instances.delete({ id: In([...ids]) });
  }

  async deleteDead(): Promise<void> {
    await this.instances.query(`DELETE FROM instances WHERE seen_at < ${NOW_MS} - ${KEPT_FOR_MS}`);
  }
}

function changingValues({ keySet, signingKey, clockOffset, clockReading }: OwnInstance): unknown[] {
  return [keySet.slice(0, MAX_KEYS_LENGTH), signingKey, clockOffset, clockReading];
}
