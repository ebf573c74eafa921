import { describe, expect, it } from 'vitest';
import { userAgentOf } from './request-origin.js';

describe('the user agent', () => {
  it.each([
    ['Accounts Desktop/1.2 (Linux)', 'Accounts Desktop/1.2 (Linux)'],
    ['a\tb\u0085c\u009bd\u007fe', 'abcde'],
    ['  spaced  ', 'spaced'],
    ['é', 'é'],
  ])('of %j is %j', (header, text) => {
    expect(userAgentOf(header)).toBe(text);
  });

  it.each([[undefined], [''], [' '], ['\t']])('of %j is none', (header) => {
    expect(userAgentOf(header)).toBeNull();
  });

  it('has at most 200 characters, of however many', () => {
    expect(userAgentOf('x'.repeat(16_000))).toBe('x'.repeat(200));
  });
});
