import { describe, expect, it } from 'vitest';
import { readFileSync } from 'node:fs';
import { isCommonPassword, isPasswordText, normalizePassword, passwordFault } from './password-policy.js';

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

const RULES = {
  passwordMinLength: 8,
  jwtIssuer: 'https://id.example.org/realm',
  mailFrom: { name: 'Looking Glass', address: 'no-reply@example.org' },
};
const EMAIL = 'alice.liddell@example.com';
const fault = (password: string, minLength = 8, email: string | undefined = EMAIL) =>
  passwordFault(normalizePassword(password), email, { ...RULES, passwordMinLength: minLength });

describe('passwordFault', () => {
  it.each([
    ['a phrase', 'tuesday rain falls sideways'],
    ['lower-case letters only', 'qmzlwpvtrk'],
    ['a phrase that contains a common word', 'my password is a song'],
    ['a phrase that contains the e-mail', `${EMAIL} is mine`],
    ['spaces only', '         '],
    ['NUL', 'abcdefgh\u0000ijklmnop'],
    ['eight emoji', '\u{1f600}\u{1f601}\u{1f602}\u{1f603}\u{1f604}\u{1f605}\u{1f606}\u{1f607}'],
  ])('accepts %s', (_name, password) => {
    expect(fault(password)).toBeUndefined();
  });

  it('counts code points after NFC and names the minimum', () => {
    expect(fault('\u{1f600}'.repeat(7))).toBe('must be at least 8 characters long');
    expect(fault('e\u0301'.repeat(7))).toBe('must be at least 8 characters long');
    expect(fault('')).toBe('must be at least 8 characters long');
    expect(fault('qmzlwpvtrkxbcd', 15)).toBe('must be at least 15 characters long');
    expect(fault('qmzlwpvtrkxbcdn', 15)).toBeUndefined();
  });

  it('accepts 128 code points and no more', () => {
    expect(fault('\u{1f600}'.repeat(128))).toBeUndefined();
    expect(fault('e\u0301'.repeat(128))).toBeUndefined();
    expect(fault('x\u{1f600}'.repeat(64) + 'y')).toBe('must be at most 128 characters long');
    expect(fault('e\u0301'.repeat(8000))).toBe('must be at most 128 characters long');
  });

  it.each(['abcdefgh\ud800', '\udfffabcdefgh', 'abcdefgh\ufffd'])('refuses broken text %j', (password) => {
    expect(fault(password)).toBe('must be well-formed Unicode text');
  });

  it.each(['passwordpassword', 'PasswordPassword', '123456789012345', 'PASSWORD1', 'iloveyou', 'QwertyUiop'])(
    'refuses the common password %s',
    (password) => {
      expect(fault(password)).toMatch(/most common/);
    },
  );

  it.each([
    EMAIL,
    EMAIL.toUpperCase(),
    `${EMAIL}${EMAIL}`,
    'alice.liddell',
    'Alice.Liddell',
    'alice.liddellALICE.LIDDELL',
    ' Alice.Liddell alice.liddell',
  ])('refuses the e-mail or its local part, repeated or not: %s', (password) => {
    expect(fault(password)).toMatch(/e-mail address/);
  });

  it('refuses a short local part that is repeated', () => {
    expect(fault('adaadaada', 8, 'ada@example.com')).toMatch(/e-mail address/);
    expect(fault('adaadaad', 8, 'ada@example.com')).toBeUndefined();
  });

  it.each([
    'AccountsAccounts',
    'accounts accounts accounts',
    'https://id.example.org/realm',
    'id.example.org',
    'LookingGlass',
    'looking glass looking glass',
  ])('refuses the name of the service: %s', (password) => {
    expect(fault(password)).toMatch(/name of this service/);
  });

  it.each(['accountsplease', 'my looking glass', 'accountsaccount'])('accepts %s', (password) => {
    expect(fault(password)).toBeUndefined();
  });

  it('recognizes other spellings of the e-mail', () => {
    expect(fault('x@B\u00dcCHER.de', 8, 'x@xn--bcher-kva.de')).toMatch(/e-mail address/);
  });

  it('works without an e-mail', () => {
    expect(passwordFault('alice.liddell', undefined, RULES)).toBeUndefined();
  });
});

describe('isCommonPassword', () => {
  it('compares the whole password, and does not list the empty string', () => {
    expect(isCommonPassword('12345678')).toBe(true);
    expect(isCommonPassword('12345678 ')).toBe(false);
    expect(isCommonPassword('')).toBe(false);
  });

  it('ships at least 3,000 distinct lower-case entries that meet the length', () => {
    const text = readFileSync(new URL('./common-passwords.txt', import.meta.url), 'utf8');
    const entries = text.trimEnd().split('\n');
    expect(new Set(entries).size).toBe(entries.length);
    expect(entries.length).toBeGreaterThanOrEqual(3000);
    expect(entries.filter((entry) => !isCommonPassword(entry) || [...entry].length < 8)).toEqual([]);
  });
});
