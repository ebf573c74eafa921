import { expect, it } from 'vitest';
import type { AccessTokenClaims } from './access-token.js';
import { VerifiedTokens } from './verified-tokens.js';

const claims = (exp: number): AccessTokenClaims => ({
  iss: 'accounts',
  aud: 'accounts',
  sub: 's',
  sid: 'd',
  jti: 'j',
  iat: exp - 60,
  exp,
  auth_time: exp - 60,
});

it('keeps a token until its expiry plus leeway, and not a second longer', () => {
  const tokens = new VerifiedTokens();
  tokens.remember('a.b.c', claims(1000));

  expect(tokens.find('a.b.c', 1029.9)).toEqual(claims(1000));
  expect(tokens.find('a.b.c', 1030)).toBeUndefined();
  expect(tokens.find('a.b.c', 1000)).toBeUndefined();
});

it('does not know a token that differs in one character', () => {
  const tokens = new VerifiedTokens();
  tokens.remember('a.b.c', claims(1000));
  expect(tokens.find('a.b.C', 999)).toBeUndefined();
  expect(tokens.find('a.b.c ', 999)).toBeUndefined();
});

it('evicts the least recently used token when full', () => {
  const tokens = new VerifiedTokens();
  for (let index = 0; index < 10_000; index += 1) tokens.remember(`t${index}`, claims(1000));
  tokens.find('t0', 0);
  tokens.remember('t10000', claims(1000));

  expect(tokens.find('t1', 0)).toBeUndefined();
  expect(tokens.find('t0', 0)).toEqual(claims(1000));
  expect(tokens.find('t10000', 0)).toEqual(claims(1000));
});
