import { describe, expect, it } from 'vitest';
import { storedScopes, storedText, typedScopes } from './service-secrets.js';

describe('the scopes of a service', () => {
  it.each([
    ['none', []],
    ['introspect', ['introspect']],
    ['events, introspect', ['introspect', 'events']],
    ['memberships,memberships', ['memberships']],
  ])('typed as %s are read', (text, scopes) => {
    expect(typedScopes(text)).toEqual(scopes);
  });

  it.each(['', ',', 'introspect,', 'all', 'Introspect', 'introspect memberships', 'none,events', '*'])(
    'typed as "%s" are refused',
    (text) => {
      expect(typedScopes(text)).toBeUndefined();
    },
  );

  it('are stored in one order, and read without those of a later version', () => {
    expect(storedText(['events', 'introspect'])).toBe('introspect,events');
    expect(storedScopes('introspect,webhooks,events')).toEqual(['introspect', 'events']);
    expect(storedScopes('')).toEqual([]);
  });
});
