import { describe, expect, it } from 'vitest';
import { requestIdOf } from './request-origin.js';

const UUID = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

const idFor = (given?: string): string => requestIdOf({ headers: { 'x-request-id': given } });

describe('the id of a request', () => {
  it.each(['a', 'A-Za-z0-9._:-', '2f6c1a0e-6a1b-4a53-9b57-0c6b4f5d3a11', 'x'.repeat(128)])(
    "is the client's: %s",
    (given) => {
      expect(idFor(given)).toBe(given);
    },
  );

  it.each([undefined, '', 'x'.repeat(129), 'a b', 'a, b', 'a/b', 'a\n', 'ä', '{"a":1}'])(
    'is one of our own in place of %j',
    (given) => {
      expect(idFor(given)).toMatch(UUID);
      expect(idFor(given)).not.toBe(idFor(given));
    },
  );
});
