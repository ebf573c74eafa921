import { describe, expect, it } from 'vitest';
import { NamedParts } from './named-parts.js';

const parts = () => new NamedParts<'codes' | 'mails' | 'sessions', string>(['codes', 'mails', 'sessions']);

describe('the named parts of rooms', () => {
  it('follow the list, not the order in which rooms registered', () => {
    const registered = parts();
    for (const name of ['sessions', 'codes', 'mails'] as const) registered.register(name, `the ${name}`);

    expect(registered.inOrder()).toEqual(['the codes', 'the mails', 'the sessions']);
    expect(Object.entries(registered.named())).toEqual([
      ['codes', 'the codes'],
      ['mails', 'the mails'],
      ['sessions', 'the sessions'],
    ]);
  });

  it('leave none out in silence', () => {
    const registered = parts();
    registered.register('mails', 'the mails');
    expect(() => registered.inOrder()).toThrow('no room has registered "codes"');
    expect(registered.of('mails')).toBe('the mails');
  });

  it('are registered once', () => {
    const registered = parts();
    registered.register('mails', 'the mails');
    expect(() => registered.register('mails', 'others')).toThrow('two parts are registered as "mails"');
  });
});
