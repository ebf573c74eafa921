import { describe, expect, it } from 'vitest';
import { linesOf, parseRow } from './import-users.js';

const HASH = `$argon2id$v=19$m=19456,t=2,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`;
const ROW = { email: 'ada@example.com', passwordHash: HASH };

const parse = (text: string) => parseRow({ bytes: Buffer.from(text) });
const parseOf = (row: object) => parse(JSON.stringify(row));

describe('a row of an import', () => {
  it('has an e-mail in any form, a hash, and what is optional', () => {
    const profile = { name: null, avatarUrl: null, locale: null };
    const account = {
      email: 'ada@example.com',
      passwordHash: HASH,
      isEmailVerified: false,
      id: undefined,
      profile,
    };
    expect(parseOf(ROW)).toEqual(account);
    expect(parseOf({ ...ROW, email: ' ADA@Example.COM' })).toEqual(account);
    const id = '9b2e6c1f-03d4-1f6a-8c15-5d0e7a3b92c4';
    expect(parseOf({ ...ROW, id: id.toUpperCase(), emailVerified: true })).toEqual({
      ...account,
      isEmailVerified: true,
      id,
    });
    const whole = { name: ' Ada ', avatarUrl: 'https://EXAMPLE.com', locale: 'en-gb' };
    const stored = { name: 'Ada', avatarUrl: 'https://example.com/', locale: 'en-GB' };
    expect(parseOf({ ...ROW, ...whole })).toEqual({ ...account, profile: stored });
    expect(parseOf({ ...ROW, name: null, avatarUrl: null, locale: null })).toEqual(account);
  });

  it.each(['', ' ', '\r', '\t'])('is none in an empty line: %j', (text) => {
    expect(parse(text)).toBeUndefined();
  });

  it.each([
    ['invalid_json', 'x'],
    ['invalid_json', 'null'],
    ['invalid_json', '[]'],
    ['invalid_json', '"ada@example.com"'],
    ['unknown_field', JSON.stringify({ ...ROW, role: 'owner' })],
    ['unknown_field', `{"__proto__":{},"email":"ada@example.com","passwordHash":"${HASH}"}`],
    ['invalid_email', '{}'],
    ['invalid_email', JSON.stringify({ ...ROW, email: { $gt: '' } })],
    ['invalid_email', JSON.stringify({ ...ROW, email: 'ada' })],
    ['invalid_hash', JSON.stringify({ email: ROW.email })],
    ['invalid_hash', JSON.stringify({ ...ROW, passwordHash: null })],
    ['invalid_hash', JSON.stringify({ ...ROW, passwordHash: '' })],
    ['hash_too_costly', JSON.stringify({ ...ROW, passwordHash: HASH.replace('t=2', 't=99') })],
    ['invalid_email_verified', JSON.stringify({ ...ROW, emailVerified: 'true' })],
    ['invalid_email_verified', JSON.stringify({ ...ROW, emailVerified: null })],
    ['invalid_id', JSON.stringify({ ...ROW, id: 4711 })],
    ['invalid_id', JSON.stringify({ ...ROW, id: null })],
    ['invalid_id', JSON.stringify({ ...ROW, id: '' })],
    ['invalid_name', JSON.stringify({ ...ROW, name: '' })],
    ['invalid_name', JSON.stringify({ ...ROW, name: 7 })],
    ['invalid_avatar_url', JSON.stringify({ ...ROW, avatarUrl: 'http://example.com' })],
    ['invalid_locale', JSON.stringify({ ...ROW, locale: 'de_AT' })],
  ])('is refused as %s: %s', (refusal, text) => {
    expect(parse(text)).toBe(refusal);
  });

  it('is refused when it is no UTF-8, or too long', () => {
    expect(parseRow({ bytes: Buffer.from([0x7b, 0xff, 0x7d]) })).toBe('invalid_json');
    expect(parseRow({ bytes: undefined })).toBe('line_too_long');
  });
});

async function read(...chunks: string[]): Promise<[number, string | undefined][]> {
  async function* stream(): AsyncGenerator<Buffer> {
    for (const chunk of chunks) yield Buffer.from(chunk);
  }
  const lines: [number, string | undefined][] = [];
  for await (const { number, bytes } of linesOf(stream())) lines.push([number, bytes?.toString()]);
  return lines;
}

describe('the lines of a stream', () => {
  it('are numbered, whatever the chunks', async () => {
    const lines = [
      [1, 'one'],
      [2, ''],
      [3, 'three'],
    ];
    expect(await read('one\n\nthree')).toEqual(lines);
    expect(await read('one\n\nthree\n')).toEqual(lines);
    expect(await read(...'one\n\nthree\n')).toEqual(lines);
    expect(await read()).toEqual([]);
    expect(await read('\n')).toEqual([[1, '']]);
  });

  it('are at most 4096 bytes long: of a longer one nothing is kept, and the next one is read', async () => {
    const long = 'x'.repeat(4096);
    expect(await read(`${long}\n`, `${long}x`, `${long}\nnext`)).toEqual([
      [1, long],
      [2, undefined],
      [3, 'next'],
    ]);
    expect(await read(`${long}x`)).toEqual([[1, undefined]]);
  });
});
