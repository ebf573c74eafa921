import { isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { parseIpAddress } from '../config/ip-address.js';

/** One subscriber usually holds a whole /64 (RFC 6177), with too many addresses to limit singly. */
const SUBSCRIBER_PREFIX = 64;

/** Keeps IPv4 and text that is no address; shortens IPv6 to its prefix. */
export function clientKey(address: string, prefixLength = SUBSCRIBER_PREFIX): string {
  if (isIPv4(address)) return address;
  const ip = parseIpAddress(address);
  if (ip?.kind() !== 'ipv6') return ip?.toString() ?? address;
  const network = ip.toByteArray().fill(0, prefixLength / 8);
  return `${ipaddr.fromByteArray(network).toString()}/${prefixLength}`;
}
