import { expect, it } from 'vitest';
import { DerivedMacs } from './derived-keys.js';
import { KeyRing, keySetText, newJwk, readKeySet } from './signing-keys.js';

const OLD = newJwk();
const NEW = newJwk();
const ringOf = (...keys: (typeof OLD)[]): KeyRing => new KeyRing(readKeySet(keySetText(keys)));
const texts = (macs: Buffer[]): string[] => macs.map((mac) => mac.toString('hex'));

it('accepts what was made before a rotation, as long as its key is there', () => {
  const made = new DerivedMacs(ringOf(OLD), 'refresh tokens').make('message').toString('hex');
  expect(texts(new DerivedMacs(ringOf(NEW, OLD), 'refresh tokens').accepted('message'))).toContain(made);
  expect(texts(new DerivedMacs(ringOf(NEW), 'refresh tokens').accepted('message'))).not.toContain(made);
});

it('follows a ring whose keys are replaced', () => {
  const ring = ringOf(OLD);
  const macs = new DerivedMacs(ring, 'refresh tokens');
  const made = macs.make('message');
  ring.replace(readKeySet(keySetText([NEW])));
  expect(macs.make('message')).not.toEqual(made);
});

it('makes different ones for different messages, keys and purposes', () => {
  const refresh = new DerivedMacs(ringOf(OLD), 'refresh tokens');
  const mails = new DerivedMacs(ringOf(OLD), 'email codes');
  const others = new DerivedMacs(ringOf(NEW), 'refresh tokens');
  const made = [refresh.make('a'), refresh.make('b'), mails.make('a'), others.make('a')];
  expect(new Set(texts(made)).size).toBe(made.length);
});
