import { isIPv4, isIPv6 } from 'node:net';

/**
 * The part of a client's address that a limit counts by: IPv4 as it is, IPv4-mapped IPv6 (RFC 4291
 * section 2.5.5.2) as that IPv4 address, other IPv6 as its /64 in the text form of RFC 5952. Text that is no
 * address stands for itself; nothing throws.
 *
 * One subscriber usually holds a whole /64 (RFC 6177), so single IPv6 addresses would make a limit per
 * client meaningless.
 */
export function clientKey(ip: string): string {
  if (isIPv4(ip)) return ip;
  const address = withoutZone(ip);
  if (!isIPv6(address)) return ip;

  const groups = groupsOf(canonicalIPv6(address));
  const mapped = mappedIPv4(groups);
  if (mapped !== undefined) return mapped;
  return `${canonicalIPv6(`${groups.slice(0, 4).join(':')}::`)}/64`;
}

function withoutZone(ip: string): string {
  const zone = ip.indexOf('%');
  return zone === -1 ? ip : ip.slice(0, zone);
}

/** The URL parser writes IPv6 as RFC 5952 does, with an embedded dotted IPv4 turned into two hex groups. */
function canonicalIPv6(address: string): string {
  return new URL(`http://[${address}]/`).hostname.slice(1, -1);
}

/** All eight groups, the `::` written out. */
function groupsOf(canonical: string): string[] {
  const [head = '', tail = ''] = canonical.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => '0');
  return [...left, ...zeros, ...right];
}

function mappedIPv4(groups: string[]): string | undefined {
  if (groups.slice(0, 6).join(':') !== '0:0:0:0:0:ffff') return undefined;
  return groups
    .slice(6)
    .map((group) => Number.parseInt(group, 16))
    .flatMap((group) => [group >>> 8, group & 0xff])
    .join('.');
}
