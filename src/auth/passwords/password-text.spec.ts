import { describe, expect, it } from 'vitest';
import { isPasswordText, normalizePassword } from './password-text.js';

const NO_PASSWORDS = ['', '\ud800', 'abcdefgh\udfff', '\udc00\ud800', 'broken\ufffd'];

describe('normalizePassword', () => {
  it('unifies composed and decomposed spellings', () => {
    expect(normalizePassword('A\u030angstrom')).toBe('\u00c5ngstrom');
    expect(normalizePassword('\u212bngstrom')).toBe('\u00c5ngstrom');
  });

  it.each(['  spaces kept  ', 'tab\tand\nnewline', 'nul\u0000inside', 'MiXeD', '\ufb01sh', '\u{1f600}', ' '])(
    'leaves %j unchanged',
    (text) => {
      expect(normalizePassword(text)).toBe(text);
    },
  );

  it('leaves text that cannot be a password unchanged', () => {
    const tooLong = 'A\u030a'.repeat(257);
    for (const text of [...NO_PASSWORDS, tooLong]) expect(normalizePassword(text)).toBe(text);
  });

  it('accepts 128 characters in their longest decomposition', () => {
    const text = '\u1f82'.repeat(128);
    expect(text.normalize('NFD')).toHaveLength(512);
    expect(normalizePassword(text.normalize('NFD'))).toBe(text);
  });
});

describe('isPasswordText', () => {
  it.each(NO_PASSWORDS)('is false for %j', (text) => {
    expect(isPasswordText(text)).toBe(false);
  });

  it('is true up to 512 UTF-16 units', () => {
    expect(isPasswordText('x'.repeat(512))).toBe(true);
    expect(isPasswordText('x'.repeat(513))).toBe(false);
  });
});
