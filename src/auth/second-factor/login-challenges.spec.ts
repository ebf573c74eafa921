import { afterEach, expect, it, vi } from 'vitest';
import { newEntityId } from '../../identifiers/entity-id.js';
import { RefreshTokens } from '../tokens/token-issuer.js';
import { DerivedMacs } from '../tokens/derived-keys.js';
import type { KeyFileWatch } from '../tokens/key-file-watch.js';
import { KeyRing, keySetText, newJwk, readKeySet } from '../tokens/signing-keys.js';
import { CHALLENGE_TTL_MS, LoginChallenges } from './login-challenges.js';

const [OLD, NEW] = [newJwk(), newJwk()];
const UNCHANGED_FILE = { lookForUnknownKey: () => Promise.resolve() } as KeyFileWatch;
const ringOf = (...keys: (typeof OLD)[]): KeyRing => new KeyRing(readKeySet(keySetText(keys)));
const challengesOf = (...keys: (typeof OLD)[]): LoginChallenges =>
  new LoginChallenges(ringOf(...keys), UNCHANGED_FILE);

const aChallenge = () => ({
  userId: newEntityId(),
  authEpoch: 7,
  enabledAt: Date.now() - 1000,
  expiresAt: Date.now() + CHALLENGE_TTL_MS,
});

afterEach(() => void vi.useRealTimers());

it('reads what it wrote, before and after a rotation of the keys', async () => {
  const challenge = aChallenge();
  const text = challengesOf(OLD).write(challenge);
  expect(await challengesOf(OLD).read(text)).toEqual(challenge);
  expect(await challengesOf(NEW, OLD).read(text)).toEqual(challenge);
  expect(await challengesOf(NEW).read(text)).toBeUndefined();
});

it('reads one until it expires', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const text = challengesOf(OLD).write(aChallenge());
  vi.setSystemTime(Date.now() + CHALLENGE_TTL_MS - 1);
  expect(await challengesOf(OLD).read(text)).toBeDefined();
  vi.setSystemTime(Date.now() + 1);
  expect(await challengesOf(OLD).read(text)).toBeUndefined();
});

it('refuses one with any character changed, left out or added', async () => {
  const challenges = challengesOf(OLD);
  const text = challenges.write(aChallenge());
  for (let place = 0; place < text.length - 1; place += 1) {
    const changed = text[place] === '1' ? '2' : '1';
    expect(await challenges.read(text.slice(0, place) + changed + text.slice(place + 1))).toBeUndefined();
    expect(await challenges.read(text.slice(0, place) + text.slice(place + 1))).toBeUndefined();
    expect(await challenges.read(`${text.slice(0, place)}1${text.slice(place)}`)).toBeUndefined();
  }
});

it('accepts no MAC that was made for something else, and is no refresh token', async () => {
  const { userId, authEpoch, enabledAt, expiresAt } = aChallenge();
  const message = [userId, authEpoch, enabledAt, expiresAt].join('.');
  for (const purpose of ['refresh tokens', 'email codes'] as const) {
    const mac = new DerivedMacs(ringOf(OLD), purpose).make(message).toString('base64url');
    expect(await challengesOf(OLD).read(`${message}.${mac}`)).toBeUndefined();
  }
  const refreshTokens = new RefreshTokens(ringOf(OLD), UNCHANGED_FILE);
  expect(await refreshTokens.read(challengesOf(OLD).write(aChallenge()))).toBeUndefined();
  expect(
    await challengesOf(OLD).read(refreshTokens.write({ sessionId: userId, generation: 1 })),
  ).toBeUndefined();
});
