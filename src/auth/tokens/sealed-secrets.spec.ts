import { expect, it } from 'vitest';
import { KeyRing } from './key-ring.js';
import { keySetText, newJwk } from './new-key.js';
import { SealedSecrets, sealedBy } from './sealed-secrets.js';
import { readKeySet } from './signing-keys.js';

const OLD = newJwk();
const NEW = newJwk();
const SECRET = Buffer.from('12345678901234567890');
const ROW = '019a0000-0000-7000-8000-000000000001';

const ringOf = (...keys: (typeof OLD)[]): KeyRing => new KeyRing(readKeySet(keySetText(keys)));
const sealsOf = (...keys: (typeof OLD)[]): SealedSecrets =>
  new SealedSecrets(ringOf(...keys), 'second factor secrets');

it('opens what it sealed, for the same row only', () => {
  const seals = sealsOf(OLD);
  const sealed = seals.seal(SECRET, ROW);
  expect(seals.open(sealed, ROW)).toEqual(SECRET);
  expect(seals.open(sealed, ROW.replace('1', '2'))).toBeUndefined();
});

it('opens what was sealed before a rotation, as long as its key is there', () => {
  const sealed = sealsOf(OLD).seal(SECRET, ROW);
  expect(sealsOf(NEW, OLD).open(sealed, ROW)).toEqual(SECRET);
  expect(sealsOf(NEW).open(sealed, ROW)).toBeUndefined();
});

it('seals with the key that signs, and tells which it was, whatever the key file calls it', () => {
  const named = { ...NEW, kid: `a.name.${'x'.repeat(300)}` };
  const ring = ringOf(named, OLD);
  const sealed = new SealedSecrets(ring, 'second factor secrets').seal(SECRET, ROW);
  expect(sealedBy(sealed)).toBe(ring.signing.thumbprint);
  expect(sealed).toMatch(/^[\w-]{43}\.[\w-]{16}\.[\w-]{48}$/u);
  expect(sealsOf(NEW).open(sealed, ROW)).toEqual(SECRET);
});

it('follows a ring whose keys are replaced', () => {
  const ring = ringOf(OLD);
  const seals = new SealedSecrets(ring, 'second factor secrets');
  const sealed = seals.seal(SECRET, ROW);
  ring.replace(readKeySet(keySetText([NEW])));
  expect(seals.open(sealed, ROW)).toBeUndefined();
});

it('never seals the same way twice', () => {
  const seals = sealsOf(OLD);
  expect(seals.seal(SECRET, ROW)).not.toBe(seals.seal(SECRET, ROW));
});

it('opens nothing of which a character was changed, and nothing else that a row could hold', () => {
  const seals = sealsOf(OLD);
  const sealed = seals.seal(SECRET, ROW);
  const changed = [...sealed].map((character, place) =>
    character === '.'
      ? sealed
      : `${sealed.slice(0, place)}${character === 'A' ? 'B' : 'A'}${sealed.slice(place + 1)}`,
  );
  const [id, nonce, box] = sealed.split('.');
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
  const opened = [...changed.filter((text) => text !== sealed), ...others].map((text) =>
    seals.open(text, ROW),
  );
  expect(opened.filter((secret) => secret !== undefined)).toEqual([]);
});
