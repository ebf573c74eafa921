import { expect, it } from 'vitest';
import { KeyRing, keySetText, newJwk, readKeySet } from './signing-keys.js';
import { EncryptedSecrets, keyOf } from './derived-keys.js';

const OLD = newJwk();
const NEW = newJwk();
const SECRET = Buffer.from('12345678901234567890');
const ROW = '019a0000-0000-7000-8000-000000000001';

const ringOf = (...keys: (typeof OLD)[]): KeyRing => new KeyRing(readKeySet(keySetText(keys)));
const secretsOf = (...keys: (typeof OLD)[]): EncryptedSecrets =>
  new EncryptedSecrets(ringOf(...keys), 'second factor secrets');

it('decrypts what it encrypted, for the same row only', () => {
  const secrets = secretsOf(OLD);
  const encrypted = secrets.encrypt(SECRET, ROW);
  expect(secrets.decrypt(encrypted, ROW)).toEqual(SECRET);
  expect(secrets.decrypt(encrypted, ROW.replace('1', '2'))).toBeUndefined();
});

it('decrypts what was encrypted before a rotation, as long as its key is there', () => {
  const encrypted = secretsOf(OLD).encrypt(SECRET, ROW);
  expect(secretsOf(NEW, OLD).decrypt(encrypted, ROW)).toEqual(SECRET);
  expect(secretsOf(NEW).decrypt(encrypted, ROW)).toBeUndefined();
});

it('encrypts with the key that signs, and says which it was, whatever the key file calls it', () => {
  const named = { ...NEW, kid: `a.name.${'x'.repeat(300)}` };
  const ring = ringOf(named, OLD);
  const encrypted = new EncryptedSecrets(ring, 'second factor secrets').encrypt(SECRET, ROW);
  expect(keyOf(encrypted)).toBe(ring.signing.thumbprint);
  expect(encrypted).toMatch(/^[\w-]{43}\.[\w-]{16}\.[\w-]{48}$/u);
  expect(secretsOf(NEW).decrypt(encrypted, ROW)).toEqual(SECRET);
});

it('follows a ring whose keys are replaced', () => {
  const ring = ringOf(OLD);
  const secrets = new EncryptedSecrets(ring, 'second factor secrets');
  const encrypted = secrets.encrypt(SECRET, ROW);
  ring.replace(readKeySet(keySetText([NEW])));
  expect(secrets.decrypt(encrypted, ROW)).toBeUndefined();
});

it('never encrypts the same way twice', () => {
  const secrets = secretsOf(OLD);
  expect(secrets.encrypt(SECRET, ROW)).not.toBe(secrets.encrypt(SECRET, ROW));
});

it('decrypts nothing of which a character was changed, and nothing else that a row could hold', () => {
  const secrets = secretsOf(OLD);
  const encrypted = secrets.encrypt(SECRET, ROW);
  const changed = [...encrypted].map((character, place) =>
    character === '.'
      ? encrypted
      : `${encrypted.slice(0, place)}${character === 'A' ? 'B' : 'A'}${encrypted.slice(place + 1)}`,
  );
  const [id, nonce, box] = encrypted.split('.');
  const others = [
    '',
    '.',
    '..',
    id!,
    `${id}.${nonce}`,
    `${id}.${nonce}.`,
    `${id}..${box}`,
    `.${nonce}.${box}`,
  ];
  const decrypted = [...changed.filter((text) => text !== encrypted), ...others].map((text) =>
    secrets.decrypt(text, ROW),
  );
  expect(decrypted.filter((secret) => secret !== undefined)).toEqual([]);
});
