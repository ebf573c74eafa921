import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const PAGE = readFileSync(join(resolve(import.meta.dirname, '../..'), 'docs/why.md'), 'utf8');
const [COMPARISON, SOURCES] = PAGE.split('## Sources') as [string, string];
/** What is ours to say, and what the reader writes. */
const OURS = /^\| \*\*Accounts\*\*|^\| A table of your own/;

describe('what docs/why.md says about other products', () => {
  it('has a source in each cell, or says that none was found', () => {
    const rows = COMPARISON.split('\n').filter((line) => line.startsWith('| ') && !OURS.test(line));
    const cells = rows
      .filter((row) => !/^\| (?:Product|-)/.test(row))
      .flatMap((row) => row.split('|').slice(2, -1));
    expect(cells.length).toBeGreaterThan(30);
    expect(cells.filter((cell) => !/\[\d+\]|^ –/.test(cell))).toEqual([]);
  });

  it('names each of the sources, and no other', () => {
    const named = new Set(Array.from(COMPARISON.matchAll(/\[(\d+)\]/g), ([, number]) => Number(number)));
    const listed = Array.from(SOURCES.matchAll(/^\| +(\d+) \| \S.* \| \S.* \|$/gm), ([, number]) =>
      Number(number),
    );
    expect([...named].toSorted((one, other) => one - other)).toEqual(listed);
    expect(SOURCES).toMatch(/Read on 2026-\d\d-\d\d/);
  });
});
