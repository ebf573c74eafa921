import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { newRecoveryCodes, readTypedCode } from './code-text.js';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('base64url');

describe('a code that was typed', () => {
  it.each(['123456', ' 123 456 ', '12-34-56', '1 2 3 4 5 6'])('%j is a TOTP code', (text) => {
    expect(readTypedCode(text)).toEqual({ kind: 'totp', digits: '123456' });
  });

  it('is a recovery code in any case, with or without its hyphens, and with letters that look like others', () => {
    const code = '0123456789ABCDEFGHJKMNPQR1';
    const expected = { kind: 'recovery', hash: sha256(code) };
    for (const typed of [
      code,
      code.toLowerCase(),
      '01234-56789-ABCDE-FGHJK-MNPQR1',
      'O1234 56789 abcde fghjk mnpqrI',
      'oL234-56789-ABCDE-FGHJK-MNPQRl',
    ]) {
      expect(readTypedCode(typed), typed).toEqual(expected);
    }
  });

  it.each([
    ['nothing', ''],
    ['blanks alone', '   '],
    ['five digits', '12345'],
    ['seven digits', '1234567'],
    ['digits of another script', '١٢٣٤٥٦'],
    ['full-width digits', '１２３４５６'],
    ['a line break', '123456\n'],
    ['another blank', '123\u00A0456'],
    ['a recovery code that lacks a letter', '0123456789ABCDEFGHJKMNPQR'],
    ['a recovery code with a letter more', '0123456789ABCDEFGHJKMNPQR12'],
    ['a letter that no recovery code has', '0123456789ABCDEFGHJKMNPQRU'],
    ['text longer than anybody types', `${' '.repeat(59)}123456`],
    ['a megabyte', '1'.repeat(2 ** 20)],
  ])('is none: %s', (_what, text) => {
    expect(readTypedCode(text)).toBeUndefined();
  });
});

describe('new recovery codes', () => {
  it('are ten of 128 bits, of which only SHA-256 is kept', () => {
    const { texts, hashes } = newRecoveryCodes();
    expect(texts).toHaveLength(10);
    expect(new Set(texts).size).toBe(10);
    for (const text of texts) expect(text).toMatch(/^(?:[0-9A-HJKMNP-TV-Z]{5}-){4}[0-9A-HJKMNP-TV-Z]{6}$/);
    expect(hashes).toEqual(texts.map((text) => sha256(text.replaceAll('-', ''))));
    expect(texts.map((text) => readTypedCode(text.toLowerCase()))).toEqual(
      hashes.map((hash) => ({ kind: 'recovery', hash })),
    );
  });

  it('use every letter, in every place', () => {
    const letters = Array.from({ length: 400 }, newRecoveryCodes).flatMap(({ texts }) =>
      texts.map((text) => text.replaceAll('-', '').slice(0, 25)),
    );
    for (let place = 0; place < 25; place += 1) {
      expect(new Set(letters.map((text) => text[place])).size).toBe(32);
    }
  });
});
