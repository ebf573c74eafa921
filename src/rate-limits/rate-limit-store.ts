import { hash } from 'node:crypto';
import { isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { RateLimit } from '../config/readers.js';
import { parseIpAddress } from '../config/ip-address.js';

export interface Counter extends RateLimit {
  name: string;
  key: string;
  liftKey?: string;
}

export interface Lift {
  agoMs: number;
  windowMs: number;
}

export interface Quota {
  remaining: number;
  resetMs: number;
}

export interface Admission {
  admitted: boolean;
  quotas: Quota[];
  /** Uncounts the admitted request for some counters, or for all. Call it at most once. */
  giveBack: (uncounted?: readonly Counter[]) => Promise<void>;
}

/** Sliding windows: no period of `windowMs`, wherever it starts, admits more than `limit`. */
export interface RateLimitStore {
  /** Counts the request for all counters or for none, so that no limit counts what another limit refused. */
  admit(counters: readonly Counter[]): Promise<Admission>;
  /** Counts nothing. */
  look(counters: readonly Counter[]): Promise<Quota[]>;
  lift(key: string, lift: Lift): Promise<void>;
  /** true while this instance counts alone although Redis should share the windows */
  readonly degraded: boolean;
}

export const RATE_LIMIT_STORE = Symbol('RateLimitStore');

export const KEY_BYTES = 16;
export const KEY_LENGTH = 22;

export const emailKey = (email: string): string => rateLimitKey('email', email);

/** Hashes the subject, so that the store contains no emails and all keys have the same length. */
export function rateLimitKey(name: string, ...subject: string[]): string {
  return hash('sha256', [name, ...subject].join('\0'), 'buffer').toString('base64url', 0, KEY_BYTES);
}

/** One subscriber usually has a whole /64 (RFC 6177). */
const SUBSCRIBER_PREFIX = 64;

export function clientKey(address: string, prefixLength = SUBSCRIBER_PREFIX): string {
  if (isIPv4(address)) return address;
  const ip = parseIpAddress(address);
  if (ip?.kind() !== 'ipv6') return ip?.toString() ?? address;
  const network = ip.toByteArray().fill(0, prefixLength / 8);
  return `${ipaddr.fromByteArray(network).toString()}/${prefixLength}`;
}
