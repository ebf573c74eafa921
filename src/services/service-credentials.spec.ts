import { describe, expect, it } from 'vitest';
import { readCredentials } from './service-credentials.js';
import { newSecret } from './service-secrets.js';

const SECRET = `acs_${'Aa0-_'.repeat(8)}xyz`;

const encoded = (text: string): string => Buffer.from(text).toString('base64');
const basic = (text: string): string => `Basic ${encoded(text)}`;

describe('readCredentials', () => {
  it('reads a secret as new ones are made, and the longest name', () => {
    const secret = newSecret();

    expect(secret).toMatch(/^acs_[A-Za-z0-9_-]{43}$/);
    const name = 'a'.repeat(40);
    expect(readCredentials(basic(`${name}:${secret}`))).toEqual({ name, secret });
    expect(newSecret()).not.toBe(secret);
  });

  it.each([
    ['the scheme in any case', `bASIC ${encoded(`billing:${SECRET}`)}`],
    ['more than one space', `Basic   ${encoded(`billing:${SECRET}`)}`],
    ['form-encoded halves', basic(`%62illing:${SECRET.replaceAll('_', '%5F').replaceAll('-', '%2d')}`)],
    [
      'every character as three',
      basic(
        [...`billing:${SECRET}`].map((c) => (c === ':' ? c : `%${c.charCodeAt(0).toString(16)}`)).join(''),
      ),
    ],
  ])('accepts %s', (_what, header) => {
    expect(readCredentials(header)).toEqual({ name: 'billing', secret: SECRET });
  });

  it.each([
    ['no header', undefined],
    ['the scheme alone', 'Basic'],
    ['another scheme', `Bearer ${encoded(`billing:${SECRET}`)}`],
    ['no scheme', encoded(`billing:${SECRET}`)],
    ['plain text', `Basic billing:${SECRET}`],
    ['base64url', `Basic ${Buffer.from(`billing:${SECRET}???>>>`).toString('base64url')}`],
    ['base64 without its padding', basic(`bill:${SECRET}`).replace(/=+$/, '')],
    ['base64 that has bits to spare', basic(`bill:${SECRET}`).replace(/.(=+)$/, '/$1')],
    ['base64 in two parts', basic(`billing:${SECRET}`).replace(/^(.{20})/, '$1 ')],
    ['Basic and Bearer in one header', `${basic(`billing:${SECRET}`)}, Bearer a.b.c`],
    ['no colon', basic(`billing${SECRET}`)],
    ['no secret', basic('billing:')],
    ['a second colon', basic(`billing:x:${SECRET}`)],
    ['a secret of another kind', basic(`billing:${SECRET.replace('acs_', 'pat_')}`)],
    ['a secret after a space', basic(`billing:+${SECRET}`)],
    ['a secret encoded twice', basic(`billing:${SECRET.replaceAll('_', '%255F')}`)],
    ['16 KiB of name and more', basic(`${'a'.repeat(16_384)}:${SECRET}`)],
    ['16 KiB of spaces', `Basic ${' '.repeat(16_000)}!`],
  ])('finds no secret in %s', (_what, header) => {
    expect(readCredentials(header)).toBeUndefined();
  });

  it.each([
    ['that is cut', SECRET.slice(0, -1)],
    ['of which only the beginning is left', 'acs_'],
    ['that is too long', `${SECRET}A`],
    ['that is far too long', `acs_${'A'.repeat(4000)}`],
    ['with a line break after it', `${SECRET}\n`],
    ['with an encoded NUL after it', `${SECRET}%00`],
    ['with a space in it', `${SECRET.slice(0, -1)}+`],
    ['with a % before letters that are no digits', `${SECRET.slice(0, -1)}%zz`],
    ['with a % that decodes to half a character', `${SECRET.slice(0, -1)}%ff`],
  ])('sees a secret that cannot be right: %s', (_what, secret) => {
    expect(readCredentials(basic(`billing:${secret}`))).toEqual({ name: 'billing', secret: undefined });
  });

  it.each([
    ['none', ''],
    ['capitals', 'Billing'],
    ['a hyphen first', '-billing'],
    ['a letter outside ASCII', 'bílling'],
    ['a NUL', 'billing\0'],
    ['a space', 'bill+ing'],
    ['a % that decodes to nothing', 'billing%'],
    ['an encoded colon', 'billing%3a'],
    ['41 characters', 'a'.repeat(41)],
  ])('sees a secret beside a name that no service can have: %s', (_what, name) => {
    expect(readCredentials(basic(`${name}:${SECRET}`))).toEqual({ name: undefined, secret: SECRET });
  });
});
