import { describe, expect, it } from 'vitest';
import { readFileSync } from 'node:fs';
import { isCommonPassword, normalizePassword, passwordFault } from './password-policy.js';

const RULES = {
  passwordMinLength: 8,
  jwtIssuer: 'https://id.example.org/realm',
  mailFrom: { name: 'Looking Glass', address: 'no-reply@example.org' },
};
const EMAIL = 'alice.liddell@example.com';
const fault = (password: string, minLength = 8, email: string | undefined = EMAIL) =>
  passwordFault(normalizePassword(password), email, { ...RULES, passwordMinLength: minLength });

describe('passwordFault', () => {
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

  it('refuses a short local part that is repeated', () => {
    expect(fault('adaadaada', 8, 'ada@example.com')).toMatch(/email address/);
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
    expect(fault('x@B\u00dcCHER.de', 8, 'x@xn--bcher-kva.de')).toMatch(/email address/);
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
