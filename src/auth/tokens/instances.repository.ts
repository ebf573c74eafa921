import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Column, Entity, In, PrimaryColumn, type Repository } from 'typeorm';
import { NOW_MS } from '../../database/statements.js';

const MAX_HOST_LENGTH = 255;
const MAX_KEYS_LENGTH = 4000;

/** A process that serves, with its signing keys. Times are epoch milliseconds of the database's clock. */
@Entity('instances')
export class Instance {
  @PrimaryColumn({ type: 'varchar', length: 36 }) id: string;
  @Column({ type: 'varchar', length: MAX_HOST_LENGTH }) host: string;

  /** the sorted thumbprints (RFC 7638), separated by a space */
  @Column({ name: 'key_set', type: 'varchar', length: MAX_KEYS_LENGTH }) keySet: string;
  @Column({ name: 'seen_at', type: 'bigint' }) seenAt: number;

  /** since when live instances have had different keys */
  @Column({ name: 'differs_since', type: 'bigint', nullable: true }) differsSince: number | null;
}

/** Three heartbeats. */
const LIVE_FOR_MS = 45_000;
const KEPT_FOR_MS = 3_600_000;
const ALLOWED_MS = 120_000;

export interface LiveInstance extends Omit<Instance, 'seenAt'> {
  now: number;
}

export const FIND_LIVE = `SELECT id, host, key_set AS keySet, differs_since AS differsSince, ${NOW_MS} AS now
  FROM instances WHERE seen_at > ${NOW_MS} - ${LIVE_FOR_MS} ORDER BY id`;

/** Returns undefined while all instances have the same keys. */
export function differenceBegan(live: readonly LiveInstance[]): number | undefined {
  if (new Set(live.map(({ keySet }) => keySet)).size <= 1) return undefined;
  return Math.min(...live.map(({ differsSince, now }) => differsSince ?? now));
}

/** Returns the machines and the thumbprints of each key set, or nothing while a rotation may still be under way. */
export function lastingDifference(live: readonly LiveInstance[]): string[] {
  const since = differenceBegan(live);
  if (since === undefined || live[0]!.now - since <= ALLOWED_MS) return [];
  const groups = Map.groupBy(live, ({ keySet }) => keySet);
  return Array.from(groups, ([keySet, instances]) => `${hostsOf(instances).join(', ')}: ${keySet}`);
}

export function hostsOf(instances: readonly Pick<Instance, 'host'>[]): string[] {
  return [...new Set(instances.map(({ host }) => host))].toSorted();
}

@Injectable()
export class InstancesRepository {
  constructor(@InjectRepository(Instance) private readonly instances: Repository<Instance>) {}

  async insert(id: string, host: string, keySet: string): Promise<void> {
    const sql = `INSERT INTO instances (id, host, key_set, seen_at) VALUES (?, ?, ?, ${NOW_MS})`;
    await this.instances.query(sql, [id, host.slice(0, MAX_HOST_LENGTH), keySet.slice(0, MAX_KEYS_LENGTH)]);
  }

  async update(id: string, keySet: string): Promise<void> {
    const sql = `UPDATE instances SET key_set = ?, seen_at = ${NOW_MS} WHERE id = ?`;
    await this.instances.query(sql, [keySet.slice(0, MAX_KEYS_LENGTH), id]);
  }

  findLive(): Promise<LiveInstance[]> {
    return this.instances.query<LiveInstance[]>(FIND_LIVE);
  }

  async setDiffersSince(ids: readonly string[], differsSince: number | null): Promise<void> {
    await this.instances.update({ id: In([...ids]) }, { differsSince });
  }

  async delete(id: string): Promise<void> {
    await this.instances.delete({ id });
  }

  async deleteDead(): Promise<void> {
    await this.instances.query(`DELETE FROM instances WHERE seen_at < ${NOW_MS} - ${KEPT_FOR_MS}`);
  }
}
