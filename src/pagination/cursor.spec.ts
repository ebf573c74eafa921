import { expect, it } from 'vitest';
import { decodeCursor, encodeCursor } from './member-cursor.js';

const cursor = { joinedAt: 1_795_219_200_123, userId: '01a1fbf4-7ea2-724e-b0f0-4ad107ba025b' };

it('survives encoding and decoding', () => {
  expect(decodeCursor(encodeCursor(cursor))).toEqual(cursor);
});

it.each([
  '',
  'x',
  '!!!',
  encodeCursor({ ...cursor, userId: 'x' }),
  encodeCursor({ ...cursor, joinedAt: -1 }),
])('refuses %j', (text) => {
  expect(decodeCursor(text)).toBeUndefined();
});
