import { describe, expect, it } from 'vitest';
import { CHALLENGE_TTL_MS, LoginChallenges } from './login-challenges.js';
import { reEncryptSecrets } from '../tokens/re-encryption.js';
import { newEntityId } from '../../identifiers/entity-id.js';
import { DerivedMacs, EncryptedSecrets, type SecretPurpose, SignedTexts } from '../tokens/derived-keys.js';
import type { KeyFileWatch } from '../tokens/key-file-watch.js';
import { KeyRing, keySetText, newJwk, readKeySet, type SigningKeys } from '../tokens/signing-keys.js';

const [OLD, NEW] = [newJwk(), newJwk()];
const keysOf = (...keys: (typeof OLD)[]): SigningKeys => readKeySet(keySetText(keys));
const secretsOf = (purpose: SecretPurpose, ...keys: (typeof OLD)[]): EncryptedSecrets =>
  new EncryptedSecrets(new KeyRing(keysOf(...keys)), purpose);
const PRUNED = keysOf(NEW, OLD);
const LEAVING = [PRUNED[1]!];
const PAGE = 2;

/** A table in memory: the secret of each row is its id. */
class Rows {
  readonly secrets = new Map<string, string>();
  beforeReplacing: (userId: string) => void = () => undefined;

  constructor(
    users: string[],
    private readonly purpose: SecretPurpose = 'second factor secrets',
  ) {
    for (const user of users) this.add(user);
  }

  add(user: string, keys = [OLD], secret = user): void {
    this.secrets.set(user, secretsOf(this.purpose, ...keys).encrypt(Buffer.from(secret), user));
  }

  findSecrets(after: string): Promise<{ id: string; secret: string }[]> {
    const users = [...this.secrets.keys()].toSorted().filter((user) => user > after);
    return Promise.resolve(users.slice(0, PAGE).map((id) => ({ id, secret: this.secrets.get(id)! })));
  }

  replaceSecret(userId: string, secret: string, replacement: string): Promise<void> {
    this.beforeReplacing(userId);
    if (this.secrets.get(userId) === secret) this.secrets.set(userId, replacement);
    return Promise.resolve();
  }

  /** What these keys decrypt. */
  decrypted(...keys: (typeof OLD)[]): (string | undefined)[] {
    const secrets = secretsOf(this.purpose, ...keys);
    return [...this.secrets].map(([user, secret]) => secrets.decrypt(secret, user)?.toString());
  }
}

const reEncrypt = (rows: Rows, handover = (): Promise<void> => Promise.resolve()): Promise<number> =>
  reEncryptSecrets([{ purpose: 'second factor secrets', rows }], PRUNED, LEAVING, handover);

describe('the re-encryption of secrets', () => {
  it('leaves alone what the key that signs encrypted, and what no key decrypts', async () => {
    const rows = new Rows(['a']);
    rows.add('b', [NEW]);
    const other = rows.secrets.get('b');
    const damaged = `${rows.secrets.get('a')!.slice(0, -1)}_`;
    rows.secrets.set('c', damaged);
    expect(await reEncrypt(rows)).toBe(0);
    expect(rows.decrypted(NEW)).toEqual(['a', 'b', undefined]);
    expect([rows.secrets.get('b'), rows.secrets.get('c')]).toEqual([other, damaged]);
  });

  it('finds what an instance encrypted meanwhile with the old key', async () => {
    const rows = new Rows(['b']);
    await reEncrypt(rows, () => {
      for (const user of ['a', 'c']) rows.add(user);
      return Promise.resolve();
    });
    expect(new Set(rows.decrypted(NEW))).toEqual(new Set(['a', 'b', 'c']));
  });

  it('replaces no secret that was changed meanwhile, and counts it if only the old key decrypts it', async () => {
    const rows = new Rows(['a']);
    rows.beforeReplacing = (user) => rows.add(user, [OLD], 'newer');
    expect(await reEncrypt(rows)).toBe(1);
    expect(rows.decrypted(OLD)).toEqual(['newer']);
  });

  it.each<[string[], string[]]>([
    [['a'], ['b', 'c']],
    [[], ['b']],
    [['a'], []],
  ])('re-encrypts every store, empty ones beside it or not: %j and %j', async (ofUsers, ofProviders) => {
    const factors = new Rows(ofUsers);
    const providers = new Rows(ofProviders, 'provider secrets');
    const stores = [
      { purpose: 'second factor secrets', rows: factors },
      { purpose: 'provider secrets', rows: providers },
    ] as const;
    let waits = 0;
    const left = await reEncryptSecrets(stores, PRUNED, LEAVING, async () => {
      waits += 1;
      providers.add('z');
    });
    expect([left, waits]).toEqual([0, 1]);
    expect(factors.decrypted(NEW)).toEqual(ofUsers);
    expect(providers.decrypted(NEW)).toEqual([...ofProviders, 'z']);
  });

  it('counts what is left in every store', async () => {
    const providers = new Rows(['a'], 'provider secrets');
    providers.beforeReplacing = (id) => providers.add(id, [OLD], 'newer');
    const stores = [
      { purpose: 'second factor secrets', rows: new Rows(['a']) },
      { purpose: 'provider secrets', rows: providers },
    ] as const;
    expect(await reEncryptSecrets(stores, PRUNED, LEAVING, () => Promise.resolve())).toBe(1);
  });

  it('does not wait if there are no secrets', async () => {
    const waited = (): Promise<void> => Promise.reject(new Error('waited'));
    expect(await reEncrypt(new Rows([]), waited)).toBe(0);
  });
});

const ringOf = (...keys: (typeof OLD)[]): KeyRing => new KeyRing(keysOf(...keys));
const UNCHANGED_FILE = { reloadForUnknownKey: () => Promise.resolve() } as KeyFileWatch;
const PARTS = [newEntityId(), '2147483647'];

const textsOf = (ring: KeyRing, purpose: 'refresh tokens' | 'login challenges' = 'refresh tokens') =>
  new SignedTexts(ring, UNCHANGED_FILE, purpose, /^[\da-f-]{36}\.[1-9]\d{0,9}$/);

describe('a signed text', () => {
  it('is read before and after a rotation of the keys', async () => {
    const text = textsOf(ringOf(OLD)).write(...PARTS);
    expect(await textsOf(ringOf(OLD)).read(text)).toEqual(PARTS);
    expect(await textsOf(ringOf(NEW, OLD)).read(text)).toEqual(PARTS);
    expect(await textsOf(ringOf(NEW)).read(text)).toBeUndefined();
  });

  it('is refused with any character changed, left out or added', async () => {
    const texts = textsOf(ringOf(OLD));
    const text = texts.write(...PARTS);
    for (let index = 0; index < text.length - 1; index += 1) {
      const [before, after] = [text.slice(0, index), text.slice(index + 1)];
      const changed = text[index] === '1' ? '2' : '1';
      for (const forged of [before + changed + after, before + after, `${before}1${text[index]}${after}`])
        expect(await texts.read(forged), forged).toBeUndefined();
    }
  });

  it('is refused with a MAC that was made for something else', async () => {
    const ring = ringOf(OLD);
    const mac = new DerivedMacs(ring, 'email codes').make(PARTS.join('.')).toString('base64url');
    expect(await textsOf(ring).read([...PARTS, mac].join('.'))).toBeUndefined();
    expect(await textsOf(ring).read(textsOf(ring, 'login challenges').write(...PARTS))).toBeUndefined();
  });
});

describe('a challenge', () => {
  const challenges = new LoginChallenges(ringOf(OLD), UNCHANGED_FILE);
  const expiresAt = Date.now() + CHALLENGE_TTL_MS;
  const challenge = { userId: newEntityId(), authEpoch: 7, enabledAt: Date.now() - 1000, expiresAt };
  const signed = new SignedTexts(ringOf(OLD), UNCHANGED_FILE, 'login challenges', /^/);

  it('is read as it was written, until it expires', async () => {
    expect(await challenges.read(challenges.write(challenge))).toEqual(challenge);
    const expired = challenges.write({ ...challenge, expiresAt: Date.now() });
    expect(await challenges.read(expired)).toBeUndefined();
  });

  it('is one that 0.3.0 reads, without a device name', () => {
    const { userId, authEpoch, enabledAt } = challenge;
    const text = signed.write(userId, authEpoch, enabledAt, expiresAt);
    expect(challenges.write(challenge)).toBe(text);
  });

  it.each(["Ada's laptop", 'a.b', 'Café ☕', '𝒟'.repeat(60)])('has a device name: %s', async (deviceName) => {
    const text = challenges.write({ ...challenge, deviceName });
    expect(text.length).toBeLessThan(450);
    expect(text).not.toContain(deviceName);
    expect(await challenges.read(text)).toEqual({ ...challenge, deviceName });
    const renamed = text.replace(/[^.]+(?=\.[^.]+$)/, Buffer.from('Mallory').toString('base64url'));
    expect(await challenges.read(renamed)).toBeUndefined();
    expect(await challenges.read(text.replace(/\.[^.]+(?=\.[^.]+$)/, ''))).toBeUndefined();
  });

  it.each([[''], ['a', 'b'], ['a b'], ['a'.repeat(321)]])(
    'is refused with %j as a fifth part',
    async (...parts) => {
      const { userId, authEpoch, enabledAt } = challenge;
      const text = signed.write(userId, authEpoch, enabledAt, expiresAt, ...parts);
      expect(await challenges.read(text)).toBeUndefined();
    },
  );
});
