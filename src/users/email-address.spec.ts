import { describe, expect, it } from 'vitest';
import { normalizedEmail, emailPrefix } from './email-address.js';

const label = (length: number) => 'd'.repeat(length);

describe('normalizedEmail', () => {
  it.each([
    ['Alice@Example.COM', 'alice@example.com'],
    ['  alice@example.com ', 'alice@example.com'],
    ['x@B\u00dcCHER.de', 'x@xn--bcher-kva.de'],
    ['x@bu\u0308cher.de', 'x@xn--bcher-kva.de'],
    ['x@XN--BCHER-KVA.de', 'x@xn--bcher-kva.de'],
    ['x@fa\u00df.de', 'x@xn--fa-hia.de'],
    ['x@\u4f8b\u3048.\u30c6\u30b9\u30c8', 'x@xn--r8jz45g.xn--zckzah'],
    ['a+1@b.co', 'a+1@b.co'],
    ['a.b.c@b.co', 'a.b.c@b.co'],
    ["!#$%&'*+/=?^_`{|}~-@b.co", "!#$%&'*+/=?^_`{|}~-@b.co"],
    ['a@1.2.b2', 'a@1.2.b2'],
    ['a@axn--b.co', 'a@axn--b.co'],
    ['a@r3---sn.example.com', 'a@r3---sn.example.com'],
  ])('turns %j into %j, which stays as it is', (input, normalized) => {
    expect(normalizedEmail(input)).toBe(normalized);
    expect(normalizedEmail(normalized)).toBe(normalized);
  });

  it('measures the local part, labels and the whole in octets', () => {
    const domain = [label(63), label(63), label(61)].join('.');
    expect(normalizedEmail(`${'l'.repeat(64)}@${domain}`)).toHaveLength(254);
    expect(normalizedEmail(`${'l'.repeat(64)}@${domain}d`)).toBeUndefined();
    expect(normalizedEmail(`${'l'.repeat(65)}@b.co`)).toBeUndefined();
    expect(normalizedEmail(`a@${label(63)}.co`)).toBe(`a@${label(63)}.co`);
    expect(normalizedEmail(`a@${label(64)}.co`)).toBeUndefined();
    expect(normalizedEmail(`a@${'\u00fc'.repeat(63)}.${'\u00fc'.repeat(63)}.de`)).toBeUndefined();
    expect(normalizedEmail(`a@${'b.'.repeat(5000)}co`)).toBeUndefined();
    expect(normalizedEmail(' '.repeat(16_000))).toBeUndefined();
    expect(normalizedEmail(`${' '.repeat(506)}a@b.co`)).toBe('a@b.co');
    expect(normalizedEmail(`${' '.repeat(507)}a@b.co`)).toBeUndefined();
  });

  it.each([
    ...'a\u200b@b.co \u0430dmin@b.co \u212a@b.co \uff41@b.co \u202ea@b.co \ufb01@b.co'.split(' '),
    ...'\u00fc@b.co a@b\u200b.co a@b\u00ad.co a@b\u200d.co a@b\ufe0f.co a@b\u034f.co'.split(' '),
    ...'a@b\u3164.co a@\u202eb.co a@b\u2066.co a@\u212ab.co a@\uff42.co a@\ufb01.co'.split(' '),
    ...'a@\u2460.co a@b\u3002co a@b\uff0eco a\uff20b.co a@b\u0000.co a@b\u007f.co'.split(' '),
    ...'a@b\ud800.co a@b\ufffd.co \u00a0a@b.co \ufeffa@b.co'.split(' '),
  ])('refuses the look-alike or invisible %j', (input) => {
    expect(normalizedEmail(input)).toBeUndefined();
  });

  it.each([
    ...'@ a a@ @b.co a@b a@b@c.co .a@b.co a.@b.co a..a@b.co a@.b.co a@b..co a@b.co. a@-b.co'.split(' '),
    ...'a@b-.co a@b_c.co "a"@b.co a(comment)@b.co <a@b.co> a@b.co,c@d.co a@b.co;c@d.co'.split(' '),
    ...'mailto:a@b.co\\ a@[127.0.0.1] a@[IPv6:::1] a@127.0.0.1 a@0x7f.1 a@2130706433 a@b.123'.split(' '),
    ...'a@b.0x10 a@b.co:80 a@b.co/x a@b.co?x a@b.co#x a@a%2eb.co a@b%00.co a@xn--.co'.split(' '),
    ...'a@xn--a-.co a@xn--bcher-kvb8.de a@XN--BCHER-KVB8.de a@xn--ab-g1t.co a@xn--mi7c.co'.split(' '),
    ...'a@xn--n3h.co a@\u2603.co a@b.co\n \ta@b.co a\u0000@b.co'.split(' '),
    '',
    ' ',
    'a b@c.co',
    'a@b c.co',
    '"a b"@b.co',
    'Alice <a@b.co>',
    'a@b.co\r\nBcc: c@d.co',
  ])('refuses the odd form %j', (input) => {
    expect(normalizedEmail(input)).toBeUndefined();
  });

  const trap = () => {
    throw new Error('converted');
  };

  it.each([
    ['undefined', undefined],
    ['a number', 12],
    ['a symbol', Symbol('a@b.co')],
    ['an array', ['a@b.co']],
    ['a String object', new String('a@b.co')],
    ['an object with traps', { toString: trap, valueOf: trap, [Symbol.toPrimitive]: trap }],
    ['a proxy', new Proxy({}, { get: trap, has: trap, getPrototypeOf: trap })],
  ])('refuses %s without reading it', (_name, input: unknown) => {
    expect(normalizedEmail(input)).toBeUndefined();
  });
});

describe('emailPrefix', () => {
  const email = "a.b+1!#$%&'*/=?^_`{|}~-@sub-1.example.co";

  it('takes every beginning of a normalized email as it is', () => {
    const beginnings = [...email].map((_, index) => email.slice(0, index + 1));
    expect(beginnings.map((beginning) => emailPrefix(beginning))).toEqual(beginnings);
  });

  it.each([
    ['  Ada ', 'ada'],
    ['ADA@EXAMPLE', 'ada@example'],
    ['x@B\u00dcCHER.de', 'x@xn--bcher-kva.de'],
  ])('turns %j into %j', (input, prefix) => {
    expect(emailPrefix(input)).toBe(prefix);
  });

  it.each(['', '@', '@a', 'a b', 'a@b@', 'a@b_', '\u212a', 'x@b\u00fc', 'a\u0000', 'x'.repeat(255), 7, {}])(
    'refuses %j',
    (input: unknown) => {
      expect(emailPrefix(input)).toBeUndefined();
    },
  );
});
