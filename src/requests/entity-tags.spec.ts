import { describe, expect, it } from 'vitest';
import { entityTag, parseIfMatch, requireMatch, streamTag } from './entity-tags.js';

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
  it.each([
    '*',
    '"7"',
    '"6", "7"',
    '"7","8"',
    'W/"7", "7"',
    ', "7"',
    '"7",',
    '"6" , ,\t"7"',
    '"a,b", "7"',
    '"7.aB-_9"',
  ])('%s matches revision 7', (text) => {
    expect(isMatched(text, 7)).toBe(true);
  });

  it.each(
    [
      '"6"',
      'W/"7"',
      '""',
      '"07"',
      '" 7"',
      '"7 "',
      '"7\xff"',
      '"6", "8"',
      '"6,7"',
      '"6.7"',
      '"7."',
      'W/"7.a"',
    ].map((text) => [text]),
  )('%s does not', (text) => {
    expect(parseIfMatch(text) === undefined || !isMatched(text, 7)).toBe(true);
  });

  it.each(
    [
      '',
      ' ',
      '7',
      '"7',
      '7"',
      '*, "7"',
      '"7" "8"',
      'w/"7"',
      'W/ "7"',
      '"7";q=1',
      '**',
      '"\x00"',
      '"a b"',
    ].map((text) => [text]),
  )('%j is none', (text) => {
    expect(parseIfMatch(text)).toBeUndefined();
  });

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
