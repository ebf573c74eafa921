import { expect, it } from 'vitest';
import { decodeCursor, encodeCursor } from './cursor.js';

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
