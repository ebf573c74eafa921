import { expect, it } from 'vitest';
import { clientKey, rateLimitKey } from './rate-limit-store.js';

it('is 22 characters of base64url without the e-mail', () => {
  const key = rateLimitKey('login', '203.0.113.7', 'alice@example.com');
  expect(key).toMatch(/^[\w-]{22}$/);
  expect(key).toBe(rateLimitKey('login', '203.0.113.7', 'alice@example.com'));
});

it('differs by name, client and e-mail, and by the boundaries between them', () => {
  const keys = [
    rateLimitKey('login', '203.0.113.7', 'a@b.co'),
    rateLimitKey('register', '203.0.113.7', 'a@b.co'),
    rateLimitKey('login', '203.0.113.8', 'a@b.co'),
    rateLimitKey('login', '203.0.113.7', 'b@b.co'),
    rateLimitKey('login', '203.0.113.7a', '@b.co'),
  ];
  expect(new Set(keys).size).toBe(keys.length);
});

it.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['::ffff:cb00:7107', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:0001:0002::1', '2001:db8:1:2::/64'],
  ['2001:db8:0:0:ffff:ffff:ffff:ffff', '2001:db8::/64'],
  ['2001:db8:0:1::', '2001:db8:0:1::/64'],
  ['::2:3:4:5:6:7:8', '0:2:3:4::/64'],
  ['::1', '::/64'],
  ['64:ff9b::1.2.3.4', '64:ff9b::/64'],
  ['fe80::1%eth0', 'fe80::/64'],
])('counts %s as %s', (address, key) => {
  expect(clientKey(address)).toBe(key);
});

it.each([
  ['203.0.113.7', '203.0.113.7'],
  ['2001:db8:1:2ff:3:4:5:6', '2001:db8:1:200::/56'],
])('counts %s as %s where a customer is one client', (address, key) => {
  expect(clientKey(address, 56)).toBe(key);
});

it('counts the addresses of one /64 together and those of another separately', () => {
  const neighbours = Array.from({ length: 20 }, (_, i) =>
    clientKey(`2001:db8:a:b::${(i * 977).toString(16)}`),
  );
  expect(new Set(neighbours)).toEqual(new Set(['2001:db8:a:b::/64']));
  expect(clientKey('2001:db8:a:c::1')).toBe('2001:db8:a:c::/64');
});

it.each(['', 'localhost', '1.2.3'])('leaves %j, which is no address, as it is', (text) => {
  expect(clientKey(text)).toBe(text);
});
