import { describe, expect, it } from 'vitest';
import { newEntityId } from '../../identifiers/entity-id.js';
import { areAccessTokenClaims } from './access-token.js';

const NOW = 1_800_000_000;
const EXPECTED = { audience: 'accounts', sessionMaxAge: 2_592_000 };
const CLAIMS = {
  iss: 'accounts',
  aud: 'accounts',
  sub: newEntityId(),
  sid: newEntityId(),
  jti: newEntityId(),
  iat: NOW,
  exp: NOW + 86_400,
  auth_time: NOW,
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
    ['jti missing', { jti: undefined }],
    ['jti a number', { jti: 1 }],
    ['auth_time missing', { auth_time: undefined }],
    ['auth_time as text', { auth_time: String(NOW) }],
    ['auth_time NaN', { auth_time: Number.NaN }],
    ['an exp past the end of the session', { exp: NOW + 2_592_001 }],
  ])('are refused with %s', (_what, change) => {
    expect(accepts(change)).toBe(false);
  });
});
