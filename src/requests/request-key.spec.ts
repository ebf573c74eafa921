import type { FastifyRequest } from 'fastify';
import { describe, expect, it } from 'vitest';
import { parseKey, requestKey } from './write.js';

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

  it.each([
    '',
    ' ',
    '""',
    '"',
    'a b',
    '"a b"',
    'a, b',
    '"a", "b"',
    '"a',
    '"a";x=1',
    '"a\\b"',
    'ü',
    'a\x00',
    '\x7f',
    '~'.repeat(256),
    `"${'~'.repeat(256)}"`,
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
