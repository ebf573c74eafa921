import { expect, it } from 'vitest';
import { decodeCursor, decodeTextCursor, encodeCursor, encodeTextCursor } from './pages.js';

const position = { order: 1_795_219_200_123, id: '01a1fbf4-7ea2-724e-b0f0-4ad107ba025b' };

it('survives encoding and decoding', () => {
  expect(decodeCursor(encodeCursor(position))).toEqual(position);
});

it.each([
  '',
  'x',
  '!!!',
  encodeCursor({ ...position, id: 'x' }),
  encodeCursor({ ...position, order: -1 }),
  encodeCursor({ ...position, order: 1e15 }),
  Buffer.from(`1.${position.id}.2`).toString('base64url'),
])('refuses %j', (text) => {
  expect(decodeCursor(text)).toBeUndefined();
});

it.each(['a', "!#$%&'*+/=?^_`{|}~-@b.co", 'x'.repeat(254)])('keeps the text %j', (text) => {
  expect(decodeTextCursor(encodeTextCursor(text))).toBe(text);
});

it.each([
  '',
  'x',
  encodeTextCursor(''),
  encodeTextCursor('a b'),
  encodeTextCursor('a\u0000'),
  encodeTextCursor('x'.repeat(255)),
])('refuses %j as a text', (cursor) => {
  expect(decodeTextCursor(cursor)).toBeUndefined();
});

it('takes neither for the other', () => {
  expect(decodeTextCursor(encodeCursor(position))).toBeUndefined();
  expect(decodeCursor(encodeTextCursor('ada@example.com'))).toBeUndefined();
});
