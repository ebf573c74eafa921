import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { ConfigurationError } from './variables.js';

export type IpAddress = ipaddr.IPv4 | ipaddr.IPv6;

export type IpRange = readonly [network: IpAddress, prefixLength: number];

const SHORTEST_PREFIX = { ipv4: 8, ipv6: 7 };
const BITS = { ipv4: 32, ipv6: 128 };
/** `::ffff:0:0/96` (RFC 4291 section 2.5.5.2) */
const MAPPED_PREFIX = 96;

export function parseIpAddress(text: string): IpAddress | undefined {
  return isIP(text) === 0 ? undefined : ipaddr.process(text.replace(/%.*/, ''));
}

export function parseIpRange(text: string): IpRange | undefined {
  const [, address = '', prefix] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const network = parseIpAddress(address);
  if (network === undefined) return undefined;
  const kind = network.kind();
  const isMapped = kind === 'ipv4' && isIP(address) === 6;
  const length = prefix === undefined ? BITS[kind] : Number(prefix) - (isMapped ? MAPPED_PREFIX : 0);
  return length >= SHORTEST_PREFIX[kind] && length <= BITS[kind] ? [network, length] : undefined;
}

export function isInRange(address: IpAddress, [network, prefixLength]: IpRange): boolean {
  return address.kind() === network.kind() && address.match(network, prefixLength);
}

export function listenError(variables: string, host: string, port: number, error: unknown): Error {
  const { code } = error as NodeJS.ErrnoException;
  const address = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
  const failure = code === 'EADDRINUSE' ? 'EADDRINUSE: another process listens there' : String(code);
  return new ConfigurationError([`${variables}: cannot listen on ${address} (${failure})`]);
}
