import { describe, expect, it } from 'vitest';
import { newEntityId } from '../../identifiers/entity-id.js';
import { type AccessTokenClaims, areAccessTokenClaims, VerifiedTokens } from './access-token.js';

const NOW = 1_800_000_000;
const EXPECTED = { audience: 'accounts', sessionMaxAge: 2_592_000 };
const CLAIMS: AccessTokenClaims = {
  iss: 'accounts',
  aud: 'accounts',
  sub: newEntityId(),
  sid: newEntityId(),
  jti: newEntityId(),
  iat: NOW,
  exp: NOW + 86_400,
  auth_time: NOW,
  amr: ['pwd'],
  epoch: 0,
  client_id: 'accounts',
};

const accepts = (change: object): boolean => areAccessTokenClaims({ ...CLAIMS, ...change }, EXPECTED, NOW);

describe('the claims of an access token', () => {
  it.each([
    ['as they are issued', {}],
    ['an iat that is 30 s ahead', { iat: NOW + 30 }],
    ['an exp at the end of the session', { exp: NOW + 2_592_000 }],
  ])('are accepted with %s', (_what, change) => {
    expect(accepts(change)).toBe(true);
  });

  it.each([
    ['an iat that is 31 s ahead', { iat: NOW + 31 }],
    ['jti a number', { jti: 1 }],
    ['auth_time NaN', { auth_time: Number.NaN }],
    ['an exp past the end of the session', { exp: NOW + 2_592_001 }],
  ])('are refused with %s', (_what, change) => {
    expect(accepts(change)).toBe(false);
  });
});

const claims = (exp: number): AccessTokenClaims => ({ ...CLAIMS, iat: exp - 60, exp, auth_time: exp - 60 });

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
