import { describe, expect, it } from 'vitest';
import { normalizePassword } from './password-text.js';

describe('normalizePassword', () => {
  it('makes composed and decomposed spellings one', () => {
    expect(normalizePassword('A\u030angstrom')).toBe('\u00c5ngstrom');
    expect(normalizePassword('\u212bngstrom')).toBe('\u00c5ngstrom');
  });

  it.each(['  spaces kept  ', 'tab\tand\nnewline', 'nul\u0000inside', 'MiXeD', '\ufb01sh', '\u{1f600}', ' '])(
    'leaves %j as it is',
    (text) => {
      expect(normalizePassword(text)).toBe(text);
    },
  );

  it.each(['', '\ud800', 'abcdefgh\udfff', '\udc00\ud800', 'broken\ufffd'])('refuses %j', (text) => {
    expect(normalizePassword(text)).toBeUndefined();
  });
});
