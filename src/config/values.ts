import { BlockList, isIP } from 'node:net';
import type { RateLimit } from './env.js';

const UNIT_SECONDS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** `60s`, `15m`, `24h` or `30d` in seconds; undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  const [, amount, unit] = /^([1-9]\d{0,8})([smhd])$/.exec(text) ?? [];
  return amount && unit ? Number(amount) * UNIT_SECONDS[unit]! : undefined;
}

/** `10/15m`: ten requests in any fifteen minutes; undefined for anything else. */
export function parseRateLimit(text: string): RateLimit | undefined {
  const [, limit, window] = /^([1-9]\d{0,3})\/(\w+)$/.exec(text) ?? [];
  const seconds = window && parseDuration(window);
  return limit && seconds ? { limit: Number(limit), windowMs: seconds * 1000 } : undefined;
}

/** Whether the text is one IP address or one CIDR range. */
export function isAddressRange(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  if (prefix === undefined) return true;
  if (!/^\d{1,3}$/.test(prefix)) return false;
  try {
    new BlockList().addSubnet(address, Number(prefix), version === 6 ? 'ipv6' : 'ipv4');
    return true;
  } catch {
    return false;
  }
}

/** Whether the text is exactly what a browser sends as `Origin`, custom schemes of desktop web views included. */
export function isExactOrigin(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\/[a-z0-9.-]+(:\d{1,5})?$/.test(text);
}
