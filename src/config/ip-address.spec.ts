import { describe, expect, it } from 'vitest';
import { isInRange, parseIpAddress, parseIpRange } from './ip-address.js';

describe('parseIpAddress', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::FFFF:203.0.113.7', '203.0.113.7'],
    ['::ffff:cb00:7107', '203.0.113.7'],
    ['::ffff:1.2.3.4%eth0', '1.2.3.4'],
    ['2001:DB8:0001::0002', '2001:db8:1::2'],
    ['fe80::1%eth0', 'fe80::1'],
  ])('reads %s as %s', (text, address) => {
    expect(parseIpAddress(text)?.toString()).toBe(address);
  });

  it.each(['', '1.2.3', '01.2.3.4', '0x7f.1', '2130706433', '1.2.3.4%eth0', ':::', '[::1]', '1.2.3.4:80'])(
    'finds no address in %j',
    (text) => {
      expect(parseIpAddress(text)).toBeUndefined();
    },
  );
});

describe('a range', () => {
  const isIn = (address: string, range: string): boolean =>
    isInRange(parseIpAddress(address)!, parseIpRange(range)!);

  it('contains its addresses, of its own family only', () => {
    expect(isIn('10.255.0.1', '10.0.0.0/8')).toBe(true);
    expect(isIn('11.0.0.1', '10.0.0.0/8')).toBe(false);
    expect(isIn('::ffff:10.0.0.1', '10.0.0.0/8')).toBe(true);
    expect(isIn('10.0.0.1', '::ffff:10.0.0.0/104')).toBe(true);
    expect(isIn('fd12::1', 'fc00::/7')).toBe(true);
    expect(isIn('10.0.0.1', 'fc00::/7')).toBe(false);
    expect(isIn('192.0.2.1', '192.0.2.1')).toBe(true);
    expect(isIn('192.0.2.2', '192.0.2.1')).toBe(false);
    expect(isIn('2001:db8::1', '2001:db8:0::1')).toBe(true);
  });

  it.each(['0.0.0.0/0', '::/0', '::ffff:0:0/96', '::ffff:0:0/90', '128.0.0.0/1', '2000::/3'])(
    'rejects %s, which is wider than any private network',
    (text) => {
      expect(parseIpRange(text)).toBeUndefined();
    },
  );

  it.each(['10.0.0.0/33', '10.0.0.0/', '10.0.0.0/8/8', '10.0.0.0/-1', '10.0.0.0/8x', '::/129', 'loopback'])(
    'rejects %j, which is malformed',
    (text) => {
      expect(parseIpRange(text)).toBeUndefined();
    },
  );
});
