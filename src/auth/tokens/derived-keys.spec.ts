import { describe, expect, it } from 'vitest';
import { DerivedMacs, EncryptedSecrets, keyOf } from './derived-keys.js';
import { KeyRing, keySetText, newJwk, readKeySet } from './signing-keys.js';

const [OLD, NEW] = [newJwk(), newJwk()];
const SECRET = Buffer.from('12345678901234567890');
const ROW = '019a0000-0000-7000-8000-000000000001';

const ringOf = (...keys: (typeof OLD)[]): KeyRing => new KeyRing(readKeySet(keySetText(keys)));
const macsOf = (...keys: (typeof OLD)[]): DerivedMacs => new DerivedMacs(ringOf(...keys), 'refresh tokens');
const secretsOf = (...keys: (typeof OLD)[]): EncryptedSecrets =>
  new EncryptedSecrets(ringOf(...keys), 'second factor secrets');

describe('a derived MAC', () => {
  const texts = (macs: Buffer[]): string[] => macs.map((mac) => mac.toString('hex'));

  it('is accepted after a rotation, as long as its key is there', () => {
    const made = macsOf(OLD).make('message').toString('hex');
    expect(texts(macsOf(NEW, OLD).accepted('message'))).toContain(made);
    expect(texts(macsOf(NEW).accepted('message'))).not.toContain(made);
  });

  it('follows a ring whose keys are replaced', () => {
    const ring = ringOf(OLD);
    const macs = new DerivedMacs(ring, 'refresh tokens');
    const made = macs.make('message');
    ring.replace(readKeySet(keySetText([NEW])));
    expect(macs.make('message')).not.toEqual(made);
  });

  it('differs by message, key and purpose', () => {
    const mails = new DerivedMacs(ringOf(OLD), 'email codes');
    const made = [macsOf(OLD).make('a'), macsOf(OLD).make('b'), mails.make('a'), macsOf(NEW).make('a')];
    expect(new Set(texts(made)).size).toBe(made.length);
  });
});

describe('an encrypted secret', () => {
  it('is decrypted for the same row only', () => {
    const encrypted = secretsOf(OLD).encrypt(SECRET, ROW);
    expect(secretsOf(OLD).decrypt(encrypted, ROW)).toEqual(SECRET);
    expect(secretsOf(OLD).decrypt(encrypted, ROW.replace('1', '2'))).toBeUndefined();
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
    const changed = [...encrypted].flatMap((character, place) => {
      const other = character === 'A' ? 'B' : 'A';
      return character === '.' ? [] : encrypted.slice(0, place) + other + encrypted.slice(place + 1);
    });
    const [id, nonce, box] = encrypted.split('.');
    const partial = [`${id}`, `${id}.${nonce}`, `${id}.${nonce}.`, `${id}..${box}`, `.${nonce}.${box}`];
    for (const text of [...changed, ...partial, '', '.', '..'])
      expect(secrets.decrypt(text, ROW), text).toBeUndefined();
  });
});
