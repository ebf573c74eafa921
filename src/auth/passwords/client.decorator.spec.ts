import type { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { hashClientOf } from './client.decorator.js';

function requestFrom(ip: string, destroyed = false): Parameters<typeof hashClientOf>[0] {
  return { ip, socket: { remoteAddress: '192.0.2.1', destroyed } as Socket };
}

it('is the same for all networks of a site, and different for each IPv4 address', () => {
  const keys = ['2001:db8:1:2::1', '2001:db8:1:ffff::2', '2001:db8:2::1', '198.51.100.1', '198.51.100.2'].map(
    (ip) => hashClientOf(requestFrom(ip)).key,
  );

  expect(keys[0]).toBe(keys[1]);
  expect(new Set(keys).size).toBe(4);
});

it('has left when its connection is closed', () => {
  expect(hashClientOf(requestFrom('198.51.100.1')).hasLeft()).toBe(false);
  expect(hashClientOf(requestFrom('198.51.100.1', true)).hasLeft()).toBe(true);
});
