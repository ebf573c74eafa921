import { describe, expect, it } from 'vitest';
import { callbackUri } from './provider-settings.js';
import { readRedirectUri } from './providers.requests.js';

describe('readRedirectUri', () => {
  it.each([
    'http://127.0.0.1:1024',
    'http://127.0.0.1:65535/',
    'http://[::1]:8400/callback',
    `http://127.0.0.1:8400/${'a'.repeat(99)}`,
    'http://127.0.0.1:8400/a-b._~/C/9/',
  ])('accepts %s', (uri) => {
    expect(readRedirectUri(uri)).toBe(uri);
  });

  it.each([
    'https://127.0.0.1:8400/',
    'HTTP://127.0.0.1:8400/',
    'http://localhost:8400/',
    'http://127.0.0.1.evil.example:8400/',
    'http://127.0.0.1@evil.example:8400/',
    'http://127.0.0.1:8400@evil.example/',
    'http://user@127.0.0.1:8400/',
    'http://127.1:8400/',
    'http://127.0.0.2:8400/',
    'http://0x7f000001:8400/',
    'http://2130706433:8400/',
    'http://[::ffff:127.0.0.1]:8400/',
    'http://[0:0:0:0:0:0:0:1]:8400/',
    'http://127.0.0.1',
    'http://127.0.0.1/',
    'http://127.0.0.1:/',
    'http://127.0.0.1:0/',
    'http://127.0.0.1:80/',
    'http://127.0.0.1:1023/',
    'http://127.0.0.1:08400/',
    'http://127.0.0.1:65536/',
    'http://127.0.0.1:8400?',
    'http://127.0.0.1:8400/?code=1',
    'http://127.0.0.1:8400/#code',
    'http://127.0.0.1:8400//evil.example',
    'http://127.0.0.1:8400/a//b',
    'http://127.0.0.1:8400\\evil.example',
    'http:\\\\127.0.0.1:8400',
    'http://127.0.0.1:8400/%0d%0aX: 1',
    'http://127.0.0.1:8400/a\tb',
    'http://127.0.0.1:8400/\r\nX: 1',
    'http://127.0.0.1:8400/\n',
    ' http://127.0.0.1:8400/',
    'http://127.0.0.1:8400/ä',
    `http://127.0.0.1:8400/${'a'.repeat(100)}`,
    `http://127.0.0.1:8400/${'a/'.repeat(1000)}`,
    '',
    null,
    8400,
    ['http://127.0.0.1:8400/'],
    { href: 'http://127.0.0.1:8400/' },
  ])('refuses %j', (uri) => {
    expect(readRedirectUri(uri)).toBeUndefined();
  });
});

describe('callbackUri', () => {
  it.each([
    ['https://accounts.example.com', 'https://accounts.example.com/api/auth/providers/acme/callback'],
    ['https://accounts.example.com/', 'https://accounts.example.com/api/auth/providers/acme/callback'],
    ['https://example.com/accounts/', 'https://example.com/accounts/api/auth/providers/acme/callback'],
    ['accounts', undefined],
    ['https://example.com?a=b', undefined],
  ])('of %s is %s', (issuer, uri) => {
    expect(callbackUri(issuer, 'acme')).toBe(uri);
  });
});
