import { describe, expect, it } from 'vitest';
import { issuerPaths, loggedPath } from './paths.js';

describe('issuerPaths', () => {
  it.each([
    ['/accounts/.well-known/openid-configuration', '/.well-known/openid-configuration'],
    ['/accounts/.well-known/openid-configuration?x=1', '/.well-known/openid-configuration?x=1'],
    ['/accounts/.well-known/jwks.json', '/.well-known/jwks.json'],
    ['/accounts/api/auth/introspect', '/api/auth/introspect'],
    ['/accounts/api/auth/providers/acme/callback?code=1', '/api/auth/providers/acme/callback?code=1'],
    ['/.well-known/oauth-authorization-server/accounts', '/.well-known/oauth-authorization-server'],
    ['/.well-known/oauth-authorization-server/accounts/', '/.well-known/oauth-authorization-server'],
  ])('%s is served by %s', (url, route) => {
    expect(issuerPaths('https://example.com/accounts/')(url)).toBe(route);
  });

  it.each([
    '/.well-known/openid-configuration',
    '/accounts',
    '/accounts/docs',
    '/accounts/api/me',
    '/accounts/api/auth/providers/acme/start',
    '/accounts/api/auth/providers/../callback',
    '/accounts/api/auth/providers/acme/callback/',
    '/api/auth/providers/acme/callback',
    '/accounts/.well-known/openid-configuration/',
    '/accounts/accounts/.well-known/jwks.json',
    '/accounts/.well-known/../docs',
    '/.well-known/oauth-authorization-server/accounts/docs',
    '/.well-known/oauth-authorization-server/other',
    '/api/me?next=/accounts/.well-known/jwks.json',
    '?',
    '',
  ])('%j stays as it is', (url) => {
    expect(issuerPaths('https://example.com/accounts')(url)).toBe(url);
  });

  it.each(['accounts', 'https://example.com', 'https://example.com/'])(
    'an issuer without a path has none: %s',
    (issuer) => {
      const url = '/.well-known/oauth-authorization-server/';
      expect(issuerPaths(issuer)(url)).toBe(url);
    },
  );
});

it.each([
  ['/api/nothing', '/api/nothing'],
  ['/api/nothing?token=secret', '/api/nothing'],
  ['/api/nothing#secret', '/api/nothing'],
  ['/', '/'],
  ['', ''],
  [`/api/${'x'.repeat(25)}/y`, `/api/${'x'.repeat(24)}/y`],
  ['http://user:secret@host/api/nothing', '/api/nothing'],
  ['https://user:secret@host?secret', ''],
])('of %s logs %j', (url, logged) => {
  expect(loggedPath(url)).toBe(logged);
});

it('logs no more of a long path than sixteen segments', () => {
  expect(loggedPath(`/${'x'.repeat(30)}`.repeat(500))).toBe(`/${'x'.repeat(24)}`.repeat(15));
  expect(loggedPath('/'.repeat(16_000))).toBe('/'.repeat(15));
});
