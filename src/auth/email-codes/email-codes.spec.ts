import { describe, expect, it } from 'vitest';
import { isSameCode, emailCodeOf, typedCode } from '../email-codes/email-codes.js';

describe('a mailed code', () => {
  it('is the first 50 bits in the base32 of Crockford', () => {
    expect(emailCodeOf(Buffer.alloc(32))).toBe('0000000000');
    expect(emailCodeOf(Buffer.alloc(32, 0xff))).toBe('ZZZZZZZZZZ');
    expect(emailCodeOf(Buffer.from('0123456789abcdef', 'hex'))).toBe('04HMASW9NF');
    expect(emailCodeOf(Buffer.from('000000000000407f', 'hex'))).toBe('0000000001');
  });

  it.each([
    '04HMASW9NF',
    '04hma-sw9nf',
    ' 04HMA SW9NF ',
    'o4hma-sw9nf',
    'O4HMA-SW9NF',
    '0-4-H-M-A-S-W-9-N-F',
  ])('is recognized as %j', (typed) => {
    expect(typedCode(typed)).toBe('04HMASW9NF');
  });

  it('takes I and L for 1', () => {
    expect(typedCode('iIlL1-00000')).toBe('1111100000');
  });

  it.each([
    '',
    '04HMASW9N',
    '04HMASW9NFX',
    '04HMASW9NU',
    '04HMASW9N\u017f',
    '04HMA_SW9NF',
    '0'.repeat(100_000),
  ])('is not recognized in %j', (typed) => {
    expect(typedCode(typed)).toBeUndefined();
  });

  it('equals itself only', () => {
    expect(isSameCode('04HMASW9NF', '04HMASW9NF')).toBe(true);
    expect(isSameCode('04HMASW9NF', '04HMASW9NG')).toBe(false);
    expect(isSameCode('04HMASW9NF', '04HMASW9N')).toBe(false);
  });
});
