import { expect, it } from 'vitest';
import { beginsLikeApiKey, findApiKeyIn, hashApiKey, isApiKey, newApiKey } from './api-key-format.js';

/** The checksums are 2,018,072,207 and 2,841,907,153 in base 62, as another implementation of CRC-32 has them. */
it.each(['0'.repeat(43) + '2CZclj', '1'.repeat(43) + '36KLs9'])('accepts ack_%s', (rest) => {
  expect(isApiKey(`ack_${rest}`)).toBe(true);
});

it('makes keys of 53 characters that scanners can check', () => {
  const keys = Array.from({ length: 200 }, newApiKey);
  for (const key of keys) expect(key).toMatch(/^ack_[0-9A-Za-z]{49}$/);
  expect(keys.filter((key) => !isApiKey(key) || !beginsLikeApiKey(key))).toEqual([]);
  expect(new Set(keys).size).toBe(keys.length);
});

it('uses all digits', () => {
  const digits = new Set(Array.from({ length: 200 }, () => newApiKey().slice(4, 47)).join(''));
  expect(digits.size).toBe(62);
});

it('rejects a key with any other character', () => {
  const key = newApiKey();
  for (let at = 0; at < key.length; at += 1) {
    const other = key[at] === '7' ? '8' : '7';
    expect(isApiKey(key.slice(0, at) + other + key.slice(at + 1)), `at ${at}`).toBe(false);
  }
});

it.each([
  ['no text', () => ''],
  ['a prefix', () => 'ack_'],
  ['a shorter key', () => newApiKey().slice(0, -1)],
  ['a longer key', () => `${newApiKey()}0`],
  ['a key and a line break', () => `${newApiKey()}\n`],
  ['a key after a space', () => ` ${newApiKey()}`],
  ['a key in lower case', () => newApiKey().toLowerCase()],
  ['a secret of a service', () => `acs_${newApiKey().slice(4)}`],
  ['15 KiB', () => `ack_${'a'.repeat(15 * 1024)}`],
])('rejects %s', (_what, text) => {
  expect(isApiKey(text())).toBe(false);
});

it.each<[string, (key: string) => string]>([
  ['alone', (key) => key],
  ['with a line break', (key) => `${key}\n`],
  ['in quotes', (key) => `"${key}"`],
  ['in a line of a file', (key) => `export ACCOUNTS_KEY=${key}; # ack_`],
  ['between letters', (key) => `x${key}0`],
  ['after one with a wrong checksum', (key) => `ack_${'0'.repeat(49)} ${key}`],
  ['after a text that ends with its beginning', (key) => `ack_${'0'.repeat(46)}${key}`],
  ['before another one', (key) => `${key},${newApiKey()}`],
])('finds a key %s', (_where, textWith) => {
  const key = newApiKey();
  expect(findApiKeyIn(textWith(key))).toBe(key);
});

it.each(['', 'ack_', `ack_${'0'.repeat(49)}`, newApiKey().replace('_', '%5F'), 'ack_'.repeat(4_000)])(
  'finds no key in %.60s',
  (text) => expect(findApiKeyIn(text)).toBeUndefined(),
);

it('hashes by SHA-256', () => {
  expect(hashApiKey('abc')).toBe('ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0');
});
