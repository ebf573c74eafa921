import { randomBytes, randomInt } from 'node:crypto';
import { generateSync } from 'otplib';
import { describe, expect, it } from 'vitest';
import { base32 } from './code-text.js';
import { codeOfStep, findStep, newTotpSecret, stepAt } from './totp.js';

const STEP_MS = 30_000;

describe('a TOTP code', () => {
  /** RFC 6238 appendix B: the last six digits of its eight, by SHA-1 */
  it.each([
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_111_111_111, '050471'],
    [1_234_567_890, '005924'],
    [2_000_000_000, '279037'],
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

  it.each(['', '12345', '1234567', 'abcdef'])('%j is none', (code) => {
    expect(findStep(newTotpSecret(), code, Date.now())).toBeUndefined();
  });

  it('has a secret of 160 bits, another one each time', () => {
    const secrets = Array.from({ length: 20 }, newTotpSecret);
    expect(secrets.every(({ length }) => length === 20)).toBe(true);
    expect(new Set(secrets.map(String)).size).toBe(20);
  });
});

describe('base32', () => {
  /** RFC 4648 section 10, without the padding */
  it.each([
    ['', ''],
    ['f', 'MY'],
    ['fo', 'MZXQ'],
    ['foo', 'MZXW6'],
    ['foob', 'MZXW6YQ'],
    ['fooba', 'MZXW6YTB'],
    ['foobar', 'MZXW6YTBOI'],
  ])('of %j is %j', (text, encoded) => {
    expect(base32(Buffer.from(text))).toBe(encoded);
  });
});
