import type { FastifyRequest } from 'fastify';
import { describe, expect, it } from 'vitest';
import { entityTag, parseIfMatch, requireMatch, streamTag } from './entity-tags.js';
import { parseKey, requestKey } from './idempotency.js';

const isMatched = (text: string, revision: number): boolean => {
  try {
    requireMatch({ ifMatch: parseIfMatch(text)! }, revision);
    return true;
  } catch (error) {
    expect(error).toMatchObject({ code: 'precondition_failed' });
    return false;
  }
};

describe('If-Match', () => {
  it.each(['*', '"7"', '"7","8"', 'W/"7", "7"', ', "7"', '"7",', '"6" , ,\t"7"', '"a,b", "7"', '"7.aB-_9"'])(
    '%s matches revision 7',
    (text) => {
      expect(isMatched(text, 7)).toBe(true);
    },
  );

  it.each([...'"6" W/"7" "" "07" "7\xff" "6,7" "6.7" "7." W/"7.a"'.split(' '), '" 7"', '"7 "', '"6", "8"'])(
    '%s does not',
    (text) => {
      expect(parseIfMatch(text) === undefined || !isMatched(text, 7)).toBe(true);
    },
  );

  it.each([...'7 "7 7" w/"7" "7";q=1 ** "\x00"'.split(' '), '', ' ', '*, "7"', '"7" "8"', 'W/ "7"', '"a b"'])(
    '%j is none',
    (text) => {
      expect(parseIfMatch(text)).toBeUndefined();
    },
  );

  it('matches the tag of a stream, which no other body has, while the revision is the same', () => {
    const [one, other] = [streamTag(7), streamTag(7)];
    expect(one).not.toBe(other);
    expect([isMatched(one, 7), isMatched(other, 7), isMatched(one, 8)]).toEqual([true, true, false]);
  });

  it('is bounded', () => {
    const list = Array(300).fill('"7"').join();
    expect(parseIfMatch(list)).toBeUndefined();
    expect(parseIfMatch(list.slice(0, 999))).toBeDefined();
  });

  it('is not needed', () => {
    expect(() => requireMatch({}, 7)).not.toThrow();
    expect(entityTag(7)).toBe('"7"');
  });
});

describe('Idempotency-Key', () => {
  it.each([
    ['abc', 'abc'],
    ['"abc"', 'abc'],
    ['a', 'a'],
    ['a"b', 'a"b'],
    ['"a\\"b"', 'a"b'],
    ['"a\\\\b"', 'a\\b'],
    ['~'.repeat(255), '~'.repeat(255)],
    [`"${'~'.repeat(255)}"`, '~'.repeat(255)],
    [`"${'\\"'.repeat(255)}"`, '"'.repeat(255)],
  ])('%s is the key %s', (text, key) => {
    expect(parseKey(text)).toBe(key);
  });

  const LONG = '~'.repeat(256);
  it.each([
    '',
    '""',
    '"',
    '"a b"',
    'a, b',
    '"a", "b"',
    '"a',
    '"a";x=1',
    '"a\\b"',
    'ü',
    'a\x00',
    LONG,
    `"${LONG}"`,
  ])('%j is none', (text) => {
    expect(parseKey(text)).toBeUndefined();
  });
});

describe('the fingerprint of a request', () => {
  const of = (method: string, url: string, query: object, body?: unknown): string =>
    requestKey('k', { method, url, query, body } as FastifyRequest).fingerprint;
  const usual = of('POST', '/api/orgs?a=1', { a: '1', b: '2' }, { name: 'A', more: { x: 1, y: [1, 2] } });

  it('is that of what the service sees, whatever the order of names', () => {
    expect(of('POST', '/api/orgs?b=2', { b: '2', a: '1' }, { more: { y: [1, 2], x: 1 }, name: 'A' })).toBe(
      usual,
    );
    expect(usual).toMatch(/^[\w-]{43}$/);
  });

  it.each<[string, Parameters<typeof of>]>([
    ['method', ['PATCH', '/api/orgs', { a: '1', b: '2' }, { name: 'A', more: { x: 1, y: [1, 2] } }]],
    ['path', ['POST', '/api/orgs/', { a: '1', b: '2' }, { name: 'A', more: { x: 1, y: [1, 2] } }]],
    ['query', ['POST', '/api/orgs', { a: '1' }, { name: 'A', more: { x: 1, y: [1, 2] } }]],
    ['body', ['POST', '/api/orgs', { a: '1', b: '2' }, { name: 'A', more: { x: 1, y: [2, 1] } }]],
    ['type', ['POST', '/api/orgs', { a: '1', b: '2' }, { name: 'A', more: { x: '1', y: [1, 2] } }]],
    ['absence', ['POST', '/api/orgs', { a: '1', b: '2' }]],
  ])('depends on the %s', (_what, parts) => {
    expect(of(...parts)).not.toBe(usual);
  });

  it('is the one that older instances keep', () => {
    expect(usual).toBe('04ObcrTSQsiWdTVC8uUAIYDCVtbaxkdOOvFP1PFMCoM');
  });

  it('keeps the parts apart', () => {
    expect(of('POST', '/a', {}, { b: 1 })).not.toBe(of('POST', '/a', { b: 1 }, {}));
    expect(of('POST', '/a', {})).not.toBe(of('POST', '/a', {}, {}));
  });
});
