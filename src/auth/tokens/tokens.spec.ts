import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { JwtService } from '@nestjs/jwt';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type AccessTokenClaims, areAccessTokenClaims, VerifiedTokens } from './access-token.js';
import { EncryptedSecrets, keyOf } from './derived-keys.js';
import { createKeyFile, lockKeyFile } from './key-file.js';
import { type KeyFileWatch, SharedPoll } from './key-file-watch.js';
import { KeyRing, keySetText, newJwk, readKeySet } from './signing-keys.js';
import { TokenIssuer } from './token-issuer.js';
import { parseEnv } from '../../config/env.js';
import { newEntityId } from '../../identifiers/entity-id.js';
import { temporaryDirectory } from '../../../tooling/processes/at-exit.js';

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

describe('a token of a login that began before SESSION_MAX_AGE was lowered', () => {
  const [DAY, HOUR] = [86_400, 3600];
  const jwt = new JwtService();
  const env = parseEnv({ SESSION_MAX_AGE: '1d', SESSION_IDLE: '1d' });
  const keys = new KeyRing(readKeySet(keySetText([newJwk()])));
  const issuer = new TokenIssuer(jwt, keys, env, {} as KeyFileWatch);

  it.each([
    ['refreshed', 1, 60],
    ['opened by a code', 0, 23 * HOUR],
  ])('ends with the lowered age if it is %s', (_how, refreshGeneration, secondsLeft) => {
    const at = NOW + DAY - secondsLeft;
    const login = {
      authTime: NOW * 1000,
      amr: 'pwd',
      authEpoch: 0,
      expiresAt: (NOW + 30 * DAY) * 1000,
    } as const;
    const { token } = issuer.issue(
      { id: CLAIMS.sid, userId: CLAIMS.sub, refreshGeneration, ...login },
      at * 1000,
    );
    const issued = jwt.decode<AccessTokenClaims>(token);
    expect(issued.exp).toBe(NOW + DAY);
    expect(areAccessTokenClaims(issued, { ...EXPECTED, sessionMaxAge: DAY }, at)).toBe(true);
  });
});

const claims = (exp: number): AccessTokenClaims => ({ ...CLAIMS, iat: exp - 60, exp, auth_time: exp - 60 });

describe('the tokens that were verified', () => {
  it('keeps a token until its expiry plus leeway, and not a second longer', () => {
    const tokens = new VerifiedTokens();
    tokens.remember('a.b.c', claims(1000));
    expect(tokens.find('a.b.c', 1029.9)).toEqual(claims(1000));
    expect(tokens.find('a.b.c', 1030)).toBeUndefined();
    expect(tokens.find('a.b.c', 1000)).toBeUndefined();
  });
});

const [OLD, NEW] = [newJwk(), newJwk()];
const SECRET = Buffer.from('12345678901234567890');
const ROW = '019a0000-0000-7000-8000-000000000001';

const ringOf = (...keys: (typeof OLD)[]): KeyRing => new KeyRing(readKeySet(keySetText(keys)));
const secretsOf = (...keys: (typeof OLD)[]): EncryptedSecrets =>
  new EncryptedSecrets(ringOf(...keys), 'second factor secrets');

describe('an encrypted secret', () => {
  it('is decrypted for the same row only', () => {
    const encrypted = secretsOf(OLD).encrypt(SECRET, ROW);
    expect(secretsOf(OLD).decrypt(encrypted, ROW)).toEqual(SECRET);
    expect(secretsOf(OLD).decrypt(encrypted, ROW.replace('1', '2'))).toBeUndefined();
  });

  it('is decrypted for its purpose only', () => {
    const encrypted = secretsOf(OLD).encrypt(SECRET, ROW);
    for (const purpose of ['provider secrets', 'provider logins'] as const)
      expect(new EncryptedSecrets(ringOf(OLD), purpose).decrypt(encrypted, ROW)).toBeUndefined();
  });

  it('is decrypted after a rotation, as long as its key is there', () => {
    const encrypted = secretsOf(OLD).encrypt(SECRET, ROW);
    expect(secretsOf(NEW, OLD).decrypt(encrypted, ROW)).toEqual(SECRET);
    expect(secretsOf(NEW).decrypt(encrypted, ROW)).toBeUndefined();
    const ring = ringOf(OLD);
    const secrets = new EncryptedSecrets(ring, 'second factor secrets');
    ring.replace(readKeySet(keySetText([NEW])));
    expect(secrets.decrypt(encrypted, ROW)).toBeUndefined();
  });

  it('names the key that signs, whatever the key file calls it', () => {
    const named = { ...NEW, kid: `a.name.${'x'.repeat(300)}` };
    const ring = ringOf(named, OLD);
    const encrypted = new EncryptedSecrets(ring, 'second factor secrets').encrypt(SECRET, ROW);
    expect(keyOf(encrypted)).toBe(ring.signing.thumbprint);
    expect(encrypted).toMatch(/^[\w-]{43}\.[\w-]{16}\.[\w-]{48}$/u);
    expect(secretsOf(NEW).decrypt(encrypted, ROW)).toEqual(SECRET);
  });

  it('differs each time', () => {
    const secrets = secretsOf(OLD);
    expect(secrets.encrypt(SECRET, ROW)).not.toBe(secrets.encrypt(SECRET, ROW));
  });

  it('is not decrypted if a character was changed, nor is anything else that a row could hold', () => {
    const secrets = secretsOf(OLD);
    const encrypted = secrets.encrypt(SECRET, ROW);
    const changed = [...encrypted].flatMap((character, index) => {
      const other = character === 'A' ? 'B' : 'A';
      return character === '.' ? [] : encrypted.slice(0, index) + other + encrypted.slice(index + 1);
    });
    const [id, nonce, box] = encrypted.split('.');
    const partial = [`${id}`, `${id}.${nonce}`, `${id}.${nonce}.`, `${id}..${box}`, `.${nonce}.${box}`];
    for (const text of [...changed, ...partial, '', '.', '..'])
      expect(secrets.decrypt(text, ROW), text).toBeUndefined();
  });
});

describe('a poll at the key file', () => {
  let polls: (() => void)[] = [];
  let shared: SharedPoll;

  beforeEach(() => {
    polls = [];
    shared = new SharedPoll(() => new Promise((end) => polls.push(end)));
  });

  /** Ends the polls that have begun, and those that begin meanwhile. */
  async function endPolls(): Promise<void> {
    for (let ended = 0; ended < polls.length; ended += 1) {
      polls[ended]!();
      await new Promise(setImmediate);
    }
  }

  it('begins at once for each caller who comes after the end of another poll', async () => {
    for (let caller = 1; caller <= 3; caller += 1) {
      const answered = shared.request();
      await new Promise(setImmediate);
      expect(polls).toHaveLength(caller);
      polls.at(-1)!();
      await answered;
    }
  });

  it('is shared by all callers who come during another poll, and begins after it', async () => {
    const first = shared.request();
    await new Promise(setImmediate);
    const later = Array.from({ length: 500 }, () => shared.request());
    await new Promise(setImmediate);
    expect(polls).toHaveLength(1);
    await endPolls();
    await Promise.all([first, ...later]);
    expect(polls).toHaveLength(2);
  });

  it('keeps a bounded number of callers waiting while the file system hangs', async () => {
    let answered = 0;
    for (let i = 0; i < 1500; i += 1) void shared.request().then(() => (answered += 1));
    await new Promise(setImmediate);
    expect(answered).toBe(500);
    await endPolls();
    expect(answered).toBe(1500);
  });
});

describe('a locked key file', () => {
  afterEach(() => vi.restoreAllMocks());

  it('has the keys that another command wrote just before the lock was taken', () => {
    const file = join(temporaryDirectory('keys'), 'jwks.json');
    createKeyFile(file);
    // The first statement of the lock comes just before the lock.
    const write = () => writeFileSync(file, keySetText([NEW, OLD]));
    vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementationOnce(write);
    const locked = lockKeyFile(file);
    locked.unlock();
    expect(locked.keys.map(({ kid }) => kid)).toEqual([NEW.kid, OLD.kid]);
  });
});
