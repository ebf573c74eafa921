import { isIPv4 } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { type IpAddress, type IpRange, isInRange, parseIpAddress } from '../config/ip-address.js';

/** more than an IPv6 address with brackets, zone and port takes */
const MAX_HOP_LENGTH = 80;
const BRACKETED = /^\[([^\]]*)\](?::\d{1,5})?$/;
const ADDRESS_WITH_PORT = /^([\d.]+):\d{1,5}$/;

/** Tells Fastify's `trustProxy` whether a hop of `X-Forwarded-For`, or the peer, is a trusted proxy. */
export function trustRanges(ranges: readonly IpRange[]): (hop: string | undefined) => boolean {
  return (hop) => {
    const address = parseHop(hop);
    return address !== undefined && ranges.some((range) => isInRange(address, range));
  };
}

/** Formats as RFC 5952, without a port that some proxies add; uses the peer's address if they gave none. */
export function clientAddress({ ip, socket }: Pick<FastifyRequest, 'ip' | 'socket'>): string {
  if (isIPv4(ip)) return ip;
  return (parseHop(ip) ?? parseHop(socket?.remoteAddress))?.toString() ?? '';
}

/** Reads `address`, `address:port`, `[address]` and `[address]:port`, the latter two for IPv6. */
function parseHop(hop: string | undefined): IpAddress | undefined {
  if (hop === undefined || hop.length > MAX_HOP_LENGTH) return undefined;
  const [, bare = hop] = BRACKETED.exec(hop) ?? ADDRESS_WITH_PORT.exec(hop) ?? [];
  return parseIpAddress(bare);
}
