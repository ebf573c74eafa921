import { describe, expect, it } from 'vitest';
import { newEntityId } from '../../identifiers/entity-id.js';
import { CHALLENGE_TTL_MS, LoginChallenges } from '../second-factor/login-challenges.js';
import { DerivedMacs } from './derived-keys.js';
import type { KeyFileWatch } from './key-file-watch.js';
import { RefreshTokens } from './refresh-tokens.js';
import { KeyRing, keySetText, newJwk, readKeySet } from './signing-keys.js';

const [OLD, NEW] = [newJwk(), newJwk()];
const UNCHANGED_FILE = { lookForUnknownKey: () => Promise.resolve() } as KeyFileWatch;
const ringOf = (...keys: (typeof OLD)[]): KeyRing => new KeyRing(readKeySet(keySetText(keys)));

const TOKEN = { sessionId: newEntityId(), generation: 2_147_483_647 };
const CHALLENGE = {
  userId: newEntityId(),
  authEpoch: 7,
  enabledAt: Date.now() - 1000,
  expiresAt: Date.now() + CHALLENGE_TTL_MS,
};
const refreshTokens = (ring: KeyRing): RefreshTokens => new RefreshTokens(ring, UNCHANGED_FILE);
const challenges = (ring: KeyRing): LoginChallenges => new LoginChallenges(ring, UNCHANGED_FILE);

interface Kind {
  kind: string;
  value: object;
  others: ('refresh tokens' | 'email codes')[];
  write: (ring: KeyRing) => string;
  read: (ring: KeyRing, text: string) => Promise<object | undefined>;
}

const KINDS: Kind[] = [
  {
    kind: 'a refresh token',
    value: TOKEN,
    others: ['email codes'],
    write: (ring) => refreshTokens(ring).write(TOKEN),
    read: (ring, text) => refreshTokens(ring).read(text),
  },
  {
    kind: 'a challenge',
    value: CHALLENGE,
    others: ['refresh tokens', 'email codes'],
    write: (ring) => challenges(ring).write(CHALLENGE),
    read: (ring, text) => challenges(ring).read(text),
  },
];

describe.each(KINDS)('$kind', ({ value, write, read, others }) => {
  it('is read before and after a rotation of the keys', async () => {
    const text = write(ringOf(OLD));
    expect(await read(ringOf(OLD), text)).toEqual(value);
    expect(await read(ringOf(NEW, OLD), text)).toEqual(value);
    expect(await read(ringOf(NEW), text)).toBeUndefined();
  });

  it('is refused with any character changed, left out or added', async () => {
    const ring = ringOf(OLD);
    const text = write(ring);
    for (let place = 0; place < text.length - 1; place += 1) {
      const [before, after] = [text.slice(0, place), text.slice(place + 1)];
      const changed = text[place] === '1' ? '2' : '1';
      for (const forged of [before + changed + after, before + after, `${before}1${text[place]}${after}`])
        expect(await read(ring, forged), forged).toBeUndefined();
    }
  });

  it('is refused with a MAC that was made for something else, and as anything else', async () => {
    const ring = ringOf(OLD);
    const message = write(ring).split('.').slice(0, -1).join('.');
    for (const purpose of others) {
      const mac = new DerivedMacs(ring, purpose).make(message).toString('base64url');
      expect(await read(ring, `${message}.${mac}`)).toBeUndefined();
    }
    for (const other of KINDS.filter((one) => one.value !== value))
      expect(await other.read(ring, write(ring))).toBeUndefined();
  });
});
