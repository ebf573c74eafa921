import { describe, expect, it } from 'vitest';
import { proseOf } from './prose-of.js';

const words = (source: string, path = 'some.service.ts'): string =>
  proseOf(path, source).replaceAll(/\s+/g, ' ').trim();

describe('proseOf', () => {
  it('keeps comments, and nothing of the code', () => {
    expect(words("const mails = 'mails'; // sends one email\n/* a second */ const other = 1;")).toBe(
      'sends one email a second */',
    );
  });

  it('keeps the texts of errors', () => {
    expect(words("throw new UnavailableError('Too busy.', 3); log('not this');")).toBe('Too busy.');
    expect(words('class A extends Error { constructor() { super(`No ${thing} here.`); } }')).toBe('No here.');
    expect(words("export const CODES = { gone: 'It is gone.' };", 'some.errors.ts')).toBe('It is gone.');
  });

  it('keeps the details of problems', () => {
    expect(words("const aborted = { code: 'aborted', detail: 'The caller aborted.' };")).toBe(
      'The caller aborted.',
    );
    expect(words("const detail = 'It failed.'; refusal(status, 'No user.'); other('not this');")).toBe(
      'It failed. No user.',
    );
  });

  it('leaves out code within a comment', () => {
    expect(words('// writes `mails` in one statement')).toBe('writes in one statement');
  });

  it('keeps lines and columns', () => {
    const source = "const a = 1;\n  // e-mail\nconst b = '';";
    const [, second] = proseOf('some.ts', source).split('\n');
    expect(second).toBe('     e-mail');
    expect(proseOf('some.ts', source)).toHaveLength(source.length);
  });
});
