import { Logger } from '@nestjs/common';
import fastify from 'fastify';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { parseIpRange } from '../config/ip-address.js';
import { untrustedProxySeen } from '../telemetry/metrics/measurements.js';
import {
  clientAddress,
  noticeUntrustedProxies,
  requestIdOf,
  trustRanges,
  userAgentOf,
} from './request-origin.js';

const PEER = '192.0.2.1';

const addressOf = (ip: string | undefined, remoteAddress?: string): string =>
  clientAddress({ ip, socket: { remoteAddress } } as Parameters<typeof clientAddress>[0]);

describe('clientAddress', () => {
  it.each([
    ['198.51.100.7', '198.51.100.7'],
    ['198.51.100.7:40001', '198.51.100.7'],
    ['::ffff:198.51.100.7', '198.51.100.7'],
    ['[::ffff:198.51.100.7]:443', '198.51.100.7'],
    ['2001:DB8::0001', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['[2001:db8::1]:40001', '2001:db8::1'],
    ['[fe80::1%eth0]:40001', 'fe80::1'],
  ])('of %s is %s', (ip, address) => {
    expect(addressOf(ip, PEER)).toBe(address);
  });

  it.each([
    [undefined],
    ['unknown'],
    ['[198.51.100.7'],
    ['198.51.100.7:'],
    ['198.51.100.7:123456'],
    ['2001:db8::1]:40001'],
    ['[2001:db8::1]x'],
  ])('falls back to the peer for %j, which is no address', (ip) => {
    expect(addressOf(ip, PEER)).toBe(PEER);
    expect(addressOf(ip)).toBe('');
  });

  it('falls back to the peer for long text', () => {
    for (const character of ['x', '1', ':', '['])
      expect(addressOf(character.repeat(16_000), PEER)).toBe(PEER);
  });
});

it('trusts hops within the ranges, with or without a port', () => {
  const isTrusted = trustRanges(['10.0.0.0/8', 'fd00::/8'].map((text) => parseIpRange(text)!));

  for (const hop of ['10.1.2.3', '10.1.2.3:443', '::ffff:10.1.2.3', '[fd00::1]:443', 'fd00::1']) {
    expect(isTrusted(hop), hop).toBe(true);
  }
  for (const hop of ['11.1.2.3', '[10.1.2.3', 'fe00::1', 'unknown', '', undefined]) {
    expect(isTrusted(hop), hop).toBe(false);
  }
});

const UUID = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

const idFor = (given?: string): string => requestIdOf({ headers: { 'x-request-id': given } });

describe('the id of a request', () => {
  it.each(['a', 'A-Za-z0-9._:-', '2f6c1a0e-6a1b-4a53-9b57-0c6b4f5d3a11', 'x'.repeat(128)])(
    "is the client's: %s",
    (given) => {
      expect(idFor(given)).toBe(given);
    },
  );

  it.each([undefined, '', 'x'.repeat(129), 'a b', 'a, b', 'a/b', 'a\n', 'ä', '{"a":1}'])(
    'is one of our own in place of %j',
    (given) => {
      expect(idFor(given)).toMatch(UUID);
      expect(idFor(given)).not.toBe(idFor(given));
    },
  );
});

describe('the user agent', () => {
  it.each([
    ['Accounts Desktop/1.2 (Linux)', 'Accounts Desktop/1.2 (Linux)'],
    ['a\tb\u0085c\u009bd\u007fe', 'abcde'],
    ['  spaced  ', 'spaced'],
    ['é', 'é'],
  ])('of %j is %j', (header, text) => {
    expect(userAgentOf(header)).toBe(text);
  });

  it.each([[undefined], [''], [' '], ['\t']])('of %j is none', (header) => {
    expect(userAgentOf(header)).toBeNull();
  });

  it('has at most 200 characters, of however many', () => {
    expect(userAgentOf('x'.repeat(16_000))).toBe('x'.repeat(200));
  });
});

describe('a proxy that is not trusted', () => {
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  async function seen(
    requests: { remoteAddress: string; headers: Record<string, string>; url?: string; after?: number }[],
  ) {
    vi.useFakeTimers({ toFake: ['performance'] });
    const warn = vi.spyOn(Logger.prototype, 'warn').mockReturnValue();
    let counted = 0;
    untrustedProxySeen.listen(() => (counted += 1));
    const app = fastify();
    noticeUntrustedProxies(app, [parseIpRange('10.0.0.0/8')!]);
    app.get('/health/ready', () => ({}));
    for (const { url = '/api/me', after = 0, ...request } of requests) {
      vi.advanceTimersByTime(after);
      await app.inject({ url, ...request });
    }
    await app.close();
    return { counted, warnings: warn.mock.calls.map(([text]) => String(text)) };
  }

  const forwarded = { 'x-forwarded-for': '198.51.100.7' };
  const untrusted = { remoteAddress: '::ffff:192.0.2.1', headers: forwarded };

  it('is counted each time, and named in a warning once an hour', async () => {
    const { counted, warnings } = await seen([
      untrusted,
      untrusted,
      { ...untrusted, remoteAddress: '192.0.2.2', after: 3_599_999 },
      { remoteAddress: '192.0.2.3', headers: { forwarded: 'for=198.51.100.7' }, after: 1 },
    ]);
    expect(counted).toBe(4);
    expect(warnings).toEqual([
      'X-Forwarded-For from 192.0.2.1, which is not in TRUST_PROXY: all clients behind it share one rate limit',
      'Forwarded from 192.0.2.3, which is not in TRUST_PROXY: all clients behind it share one rate limit',
    ]);
  });

  it('is neither a trusted one, nor a client, nor a probe', async () => {
    expect(
      await seen([
        { remoteAddress: '10.1.2.3', headers: forwarded },
        { remoteAddress: '::ffff:10.1.2.3', headers: forwarded },
        { remoteAddress: '192.0.2.1', headers: {} },
        { ...untrusted, url: '/health/ready' },
      ]),
    ).toEqual({ counted: 0, warnings: [] });
  });
});
