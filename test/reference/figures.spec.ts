import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const cellsOf = (row: string): string[] => row.split('|').map((cell) => cell.trim());
const numbersIn = (text: string): string[] =>
  text.replaceAll(/(?<=\d),(?=\d{3})/g, '').match(/\d[\d.]*/g) ?? [];

it('has the figures of the README from the results of the benchmark, each with a version and a date', () => {
  const [, table] = /^## Figures\n.*?^(\| What .*?)\n\n/ms.exec(read('README.md'))!;
  const rows = table!.split('\n').slice(2).map(cellsOf);
  const results = new Set(numbersIn(read('bench/RESULTS.md')).map((number) => number.replace(/\.$/, '')));
  const dates = new Set(read('bench/RESULTS.md').match(/2026-\d\d-\d\d/g));

  expect(rows.length).toBeGreaterThan(3);
  for (const [, what, value, ratio, measured] of rows) {
    const numbers = numbersIn(`${value!.replaceAll(/p99/g, '')} ${ratio}`);
    expect({ what, missing: numbers.filter((number) => !results.has(number)) }).toEqual({
      what,
      missing: [],
    });
    const [, date] = /^\d+\.\d+\.\d+(?:-dev)?, (\S+)$/.exec(measured!) ?? [];
    expect([...dates]).toContain(date);
  }
});

it('has the sums of the fault tests from their results, of the same day', () => {
  const results = read('test/faults/RESULTS.md');
  const rows = results.split('\n').filter((line) => /\| +(?:passed|skipped) \|$/.test(line));
  const sumOf = (column: number): string =>
    rows.reduce((sum, row) => sum + Number(cellsOf(row)[column]), 0).toLocaleString('en-US');
  const [, date] = /^- Date: (\S+)$/m.exec(results)!;
  const page = read('docs/how-it-is-tested.md');
  const [, sums] = /^\| Faults or rounds; requests; acknowledged writes \((\S+)\) +\| +(.*?) +\|/m
    .exec(page)!
    .slice(1);

  expect([date, sums]).toEqual([
    /acknowledged writes \((\S+)\)/.exec(page)![1],
    [2, 3, 5].map(sumOf).join('; '),
  ]);
  expect([4, 6].map(sumOf)).toEqual(['0', '0']);
});

it.each([
  ['docs/operate.md', '## Capacity', '## Rotate'],
  ['docs/faq.md', '**How large can it grow?**', '**Does it run on Windows'],
  ['client/README.md', 'The guard admits a known token', '100,000 sessions'],
])('%s has from %s on rounded figures of the results, with a date', (page, from, to) => {
  const measured = numbersIn(read('bench/RESULTS.md')).map(Number);
  const rounded = new Set(
    [2, 3, 6].flatMap((digits) => measured.map((value) => Number(value.toPrecision(digits)))),
  );
  const text = read(page);
  const start = text.indexOf(from);
  const place = text.slice(start, text.indexOf(to, start)).replaceAll(/(?<=\d),(?=\d{3})/g, '');
  const units = String.raw`(?=\/s\b| MiB| ms\b| s\b| a second| such logins| times as much| above rest)`;
  const figures = Array.from(place.matchAll(new RegExp(String.raw`\d+(?:\.\d+)?${units}`, 'g')), ([figure]) =>
    Number(figure),
  );

  expect(figures).not.toEqual([]);
  expect(figures.filter((figure) => !rounded.has(figure))).toEqual([]);
  expect(place).toMatch(/2026-\d\d-\d\d/);
});
