import { describe, expect, it } from 'vitest';
import { mutantsOf } from './mutations.ts';

/** The line with each of its mistakes. */
function mistakesIn(line: string): string[] {
  return mutantsOf('example.ts', line).map(({ after }) => after.join('\n'));
}

describe('the mistakes in', () => {
  it.each<[string, string, string[]]>([
    ['a boundary', 'const late = now >= end;', ['const late = now > end;']],
    ['an equation', 'if (a === b) go();', ['if (a !== b) go();', 'if (a === b) ;']],
    ['a condition', 'if (is(a)) go();', ['if (!(is(a))) go();', 'if (is(a)) ;']],
    ['a negated condition', 'while (!a) go();', ['while (a) go();', 'while (!a) ;']],
    ['clauses', 'const c = a && b;', ['const c = a;', 'const c = b;']],
    ['a default', 'const c = a ?? b;', ['const c = a;', 'const c = b;']],
    ['a throw', 'throw new Error();', [';']],
    ['an awaited statement', 'await go();', [';', 'go();']],
    ['a number', 'const n = 30;', ['const n = 60;']],
    ['zero and one', 'f(0, 1);', [';', 'f(1, 1);', 'f(0, 0);']],
    ['a boolean', 'const t = true;', ['const t = false;']],
    ['a choice', 'const c = a ? b : d;', ['const c = !(a) ? b : d;']],
    ['a decorator', 'class A { @Min(x) b: C; }', ['class A {  b: C; }']],
  ])('%s', (_what, line, mistakes) => {
    expect(mistakesIn(line)).toEqual(mistakes);
  });

  it('a statement of SQL: each condition that no longer counts, with its placeholders', () => {
    const sql = '`UPDATE t SET a = ? WHERE b = ? AND (c = ? OR d IN (${places})) AND e IS NULL ORDER BY f`';

    expect(mistakesIn(`const q = ${sql};`)).toEqual(
      [
        ['b = ?', '(1 = 1 OR b = ?)'],
        ['(c = ? OR d IN (${places}))', '(1 = 1 OR (c = ? OR d IN (${places})))'],
        ['e IS NULL', '(1 = 1 OR e IS NULL)'],
        [' IS NULL', ' IS NOT NULL'],
      ].map(([from = '', to = '']) => `const q = ${sql.replace(from, to)};`),
    );
  });

  it('a subquery: up to the parenthesis that ends it', () => {
    const sql = "'SELECT 1 FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.id = t.id) AND x > ?'";

    expect(mistakesIn(`const q = ${sql};`)).toEqual([
      `const q = ${sql.replace(/EXISTS .*\)/, '(1 = 1 OR $&)')};`,
      `const q = ${sql.replace('u.id = t.id', '(1 = 1 OR u.id = t.id)')};`,
      `const q = ${sql.replace('x > ?', '(1 = 1 OR x > ?)')};`,
      `const q = ${sql.replace(' > ', ' >= ')};`,
    ]);
  });

  it('nothing but code: no types, no imports', () => {
    expect(mistakesIn("import { a } from './b.js';\ninterface C { d: true; e?: 1 }\nlet f: 2;")).toEqual([]);
  });
});
