import { expect, it } from 'vitest';
import { loggedPath } from './paths.js';

it.each([
  ['/api/nothing', '/api/nothing'],
  ['/api/nothing?token=secret', '/api/nothing'],
  ['/api/nothing#secret', '/api/nothing'],
  ['/', '/'],
  ['', ''],
  [`/api/${'x'.repeat(25)}/y`, `/api/${'x'.repeat(24)}/y`],
  ['http://user:secret@host/api/nothing', '/api/nothing'],
  ['https://user:secret@host?secret', ''],
])('of %s logs %j', (url, logged) => {
  expect(loggedPath(url)).toBe(logged);
});

it('logs no more of a long path than sixteen segments', () => {
  expect(loggedPath(`/${'x'.repeat(30)}`.repeat(500))).toBe(`/${'x'.repeat(24)}`.repeat(15));
  expect(loggedPath('/'.repeat(16_000))).toBe('/'.repeat(15));
});
