import { expect, it } from 'vitest';
import { EntityIdPipe } from './fields.js';

it.each([
  ['01a1fbf4-7ea2-724e-b0f0-000000000001', '01a1fbf4-7ea2-724e-b0f0-000000000001'],
  ['01a1fbf4-7ea2-724e-b0f0', ''],
  ['\u{1F600}', ''],
  ["' OR 1=1 --", ''],
])('turns %j into the id %j', (text, id) => {
  expect(new EntityIdPipe().transform(text)).toBe(id);
});
