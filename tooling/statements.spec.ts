import { expect, it } from 'vitest';
import { ENGINES, normalized, readList } from './statements.js';

it.each([
  ['SELECT a\n    FROM t  WHERE b IN (?, ?, ?)', 'SELECT a FROM t WHERE b IN (?)'],
  ['SELECT a FROM t WHERE b IN (?)', 'SELECT a FROM t WHERE b IN (?)'],
  ['INSERT INTO t (a, b) VALUES (?, 7), (?, NULL)', 'INSERT INTO t (a, b) VALUES (?)'],
  ['DELETE FROM t WHERE (a = ? AND b = ?) OR (a = ? AND b = ?)', 'DELETE FROM t WHERE (a = ? AND b = ?)'],
  [
    "(SELECT a, b FROM t WHERE id = '' UNION ALL SELECT ?, ? UNION ALL SELECT ?, ?) k",
    "(SELECT a, b FROM t WHERE id = '' UNION ALL SELECT ?, ?) k",
  ],
  ['SELECT a FROM t LIMIT 500 OFFSET 20', 'SELECT a FROM t LIMIT ? OFFSET ?'],
  ['SELECT 1 FROM "t" "T" WHERE "T"."a" <= 1795893853429', 'SELECT 1 FROM "t" "T" WHERE "T"."a" <= ?'],
  ['SELECT a FROM t LIMIT 1', 'SELECT a FROM t LIMIT 1'],
])('%s is listed as %s', (sql, listed) => {
  expect(normalized(sql)).toBe(listed);
  expect(normalized(listed)).toBe(listed);
});

it.each(ENGINES)('the list of %s is sorted and has each statement once', (engine) => {
  const lines = [...readList(engine).values()];
  expect(lines.length).toBeGreaterThan(200);
  expect(lines).toEqual([...new Set(lines)].toSorted());
  expect([...readList(engine).keys()].map(normalized)).toEqual([...readList(engine).keys()]);
});
