import { createHash, randomBytes, randomInt } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { generateSync } from 'otplib';
import {
  base32,
  codeOfStep,
  findStep,
  newRecoveryCodes,
  newTotpSecret,
  readTypedCode,
  stepAt,
} from './codes.js';

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
    ])
      expect(readTypedCode(typed), typed).toEqual(expected);
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

  it('use every letter, at every position', () => {
    const letters = Array.from({ length: 400 }, newRecoveryCodes).flatMap(({ texts }) =>
      texts.map((text) => text.replaceAll('-', '').slice(0, 25)),
    );
    for (let index = 0; index < 25; index += 1)
      expect(new Set(letters.map((text) => text[index])).size).toBe(32);
  });
});

const STEP_MS = 30_000;

describe('a TOTP code', () => {
  /** RFC 6238 appendix B: the last six digits of its eight, by SHA-1 */
  it.each([
    [59, '287082'],
    [1_111_111_109, '081804'],
    [20_000_000_000, '353130'],
  ])('at %i s is %s, as the standard has it', (seconds, code) => {
    const secret = Buffer.from('12345678901234567890');
    expect(codeOfStep(secret, stepAt(seconds * 1000))).toBe(code);
  });

  it('is what another implementation makes, at any time and for any secret', () => {
    for (let i = 0; i < 500; i += 1) {
      const secret = randomBytes(20);
      const epoch = randomInt(0, 2 ** 40);
      const expected = generateSync({ secret: base32(secret), epoch: Math.floor(epoch / 1000) });
      expect(codeOfStep(secret, stepAt(epoch)), `${secret.toString('hex')} at ${epoch}`).toBe(expected);
    }
  });

  it('is found in its own step and in those beside it, and in no other', () => {
    const secret = newTotpSecret();
    const now = Date.now();
    const step = stepAt(now);
    const codes = [-2, -1, 0, 1, 2].map((away) => codeOfStep(secret, step + away));
    // Six digits repeat by chance.
    if (new Set(codes).size < codes.length) return;
    expect(codes.map((code) => findStep(secret, code, now))).toEqual([
      undefined,
      step - 1,
      step,
      step + 1,
      undefined,
    ]);
    expect(findStep(secret, codes[2]!, now - (now % STEP_MS) - 1)).toBe(step);
    expect(findStep(secret, codes[2]!, (step + 2) * STEP_MS - 1)).toBe(step);
    expect(findStep(secret, codes[2]!, (step + 2) * STEP_MS)).toBeUndefined();
  });
});

describe('base32', () => {
  /** RFC 4648 section 10, without the padding */
  it.each([
    ['', ''],
    ['fo', 'MZXQ'],
    ['fooba', 'MZXW6YTB'],
    ['foobar', 'MZXW6YTBOI'],
  ])('of %j is %j', (text, encoded) => {
    expect(base32(Buffer.from(text))).toBe(encoded);
  });
});
