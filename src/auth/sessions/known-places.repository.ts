import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import ipaddr from 'ipaddr.js';
import { Column, Entity, ForeignKey, Index, LessThan, PrimaryColumn, type Repository } from 'typeorm';
import type { SignInOrigin } from '../../access/principal.js';
import { parseIpAddress } from '../../config/ip-address.js';
import { BATCH, type Batch, deleteFound } from '../../database/statements.js';
import { isUniqueViolation, type UniqueKey } from '../../database/transactions/database-errors.js';
import type { Transaction } from '../../database/transactions/transactions.js';
import type { User } from '../../users/user.entity.js';
import { type Credentials, CREDENTIALS } from '../../users/users.repository.js';

const KNOWN_PLACES_KEY: UniqueKey = {
  name: 'PRIMARY',
  columns: 'known_places.user_id, known_places.network, known_places.agent',
};

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

export interface Place {
  network: string;
  agent: string;
}

export type LoginUser = Credentials &
  Pick<User, 'passwordCheckedAt'> & {
    hasPlaces: number;
    placeSeenAt: number | null;
  };

export const PLACE_KNOWN_FOR_MS = 90 * 86_400_000;
const MAX_PLACES = 50;
const UNKNOWN = 'unknown';

const NETWORKS = { ipv4: [ipaddr.IPv4, 24], ipv6: [ipaddr.IPv6, 48] } as const;
/** In this order, because the agents of later browsers begin like those of earlier ones. */
const FAMILIES = [
  ['Firefox', /\b(?:Firefox|FxiOS)\//],
  ['Edge', /\bEdg(?:e|A|iOS)?\//],
  ['Opera', /\b(?:OPR|Opera|OPiOS)\b/],
  ['Chrome', /\b(?:Chrome|CriOS)\//],
  ['Safari', /\bSafari\//],
] as const;
/** In this order, because Android names Linux, and iPhones name Mac OS X. */
const SYSTEMS = [
  ['iOS', /\b(?:iPhone|iPad|iPod)\b/],
  ['Android', /\bAndroid\b/],
  ['Windows', /\bWindows\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['macOS', /\b(?:Macintosh|Mac OS X|macOS)\b/],
  ['Linux', /\bLinux\b/],
] as const;
const PRODUCT = /^[!#$%&'*+.^_`|~\w-]{1,40}/;

export function placeOf({ address, userAgent }: SignInOrigin): Place {
  const agent = userAgent ?? '';
  const [name] = FAMILIES.find(([, pattern]) => pattern.test(agent)) ?? PRODUCT.exec(agent) ?? [];
  return { network: networkOf(address), agent: name ?? UNKNOWN };
}

export function systemOf({ userAgent }: Pick<SignInOrigin, 'userAgent'>): string | undefined {
  return SYSTEMS.find(([, pattern]) => pattern.test(userAgent ?? ''))?.[0];
}

/** Two unknown networks differ. */
export function isSameNetwork(one: string, other: string): boolean {
  const network = networkOf(one);
  return network !== UNKNOWN && network === networkOf(other);
}

function networkOf(text: string): string {
  const address = parseIpAddress(text);
  if (!address) return UNKNOWN;
  const [family, length] = NETWORKS[address.kind()];
  return `${family.networkAddressFromCIDR(`${address.toString()}/${length}`).toString()}/${length}`;
}

/** Of a user `u`, with the network and the agent of the place as its values. */
export const LOGIN_USER = `${CREDENTIALS}, u.password_checked_at AS passwordCheckedAt,
  EXISTS (SELECT 1 FROM known_places p WHERE p.user_id = u.id) AS hasPlaces,
  (SELECT p.last_seen_at FROM known_places p
    WHERE p.user_id = u.id AND p.network = ? AND p.agent = ?) AS placeSeenAt`;

@Injectable()
export class KnownPlacesRepository {
  constructor(@InjectRepository(KnownPlace) private readonly places: Repository<KnownPlace>) {}

  async insert(tx: Transaction, userId: string, place: Place, now: number): Promise<boolean> {
    try {
      await tx.of(this.places).insert({ userId, ...place, firstSeenAt: now, lastSeenAt: now });
      return true;
    } catch (error) {
      if (!isUniqueViolation(error, KNOWN_PLACES_KEY)) throw error;
      return false;
    }
  }

  async update(
    tx: Transaction,
    userId: string,
    place: Place,
    { from, to }: { from: number; to: number },
  ): Promise<boolean> {
    const { affected } = await tx
      .of(this.places)
      .update({ userId, ...place, lastSeenAt: from }, { lastSeenAt: to });
    return affected === 1;
  }

  findAllOf(userId: string): Promise<KnownPlace[]> {
    return this.places.find({ where: { userId }, order: { lastSeenAt: 'DESC' } });
  }

  async deleteSurplus(userId: string): Promise<void> {
    await this.deleteAll((await this.findAllOf(userId)).slice(MAX_PLACES));
  }

  async deleteOld(now: number): Promise<Batch> {
    const where = { lastSeenAt: LessThan(now - PLACE_KNOWN_FOR_MS) };
    return this.deleteAll(await this.places.find({ where, order: { lastSeenAt: 'ASC' }, take: BATCH }));
  }

  async deleteAllOf(tx: Transaction, userId: string): Promise<void> {
    await tx.of(this.places).delete({ userId });
  }

  private deleteAll(places: readonly KnownPlace[]): Promise<Batch> {
    return deleteFound(places, async (found) => {
      await this.places.delete(found.map(({ userId, network, agent }) => ({ userId, network, agent })));
    });
  }
}
