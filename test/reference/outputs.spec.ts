import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { expectPrinted } from '../pages/support/outputs.js';
import { snippetsIn } from '../pages/support/page-program.js';

const ROOT = resolve(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(resolve(ROOT, file), 'utf8');

it('compares every output of a page with what the program prints', () => {
  const tests = globSync('test/{client,operations,pages}/*.e2e-spec.ts', { cwd: ROOT }).map(read).join('\n');
  const compared = Array.from(tests.matchAll(/outputOf\(\s*'(.+?)',\s*'(.+?)'/g), ([, page, start]) => ({
    page: page!,
    start: start!,
  }));
  const pages = globSync('{README.md,{docs,client,examples}/**/*.md}', {
    cwd: ROOT,
    exclude: ['**/node_modules'],
  });
  const outputs = pages.flatMap((page) => snippetsIn(read(page), '').map((output) => ({ page, output })));
  const others = outputs.filter(
    ({ page, output }) => !compared.some((one) => one.page === page && output.startsWith(one.start)),
  );
  expect(others).toEqual([]);
  expect(outputs.length).toBeGreaterThan(15);
});

it('compares the shape: what varies may differ, and nothing else', () => {
  const shown =
    '{"id":"019a…","at":"2026-11-26T09:30:00.000Z",\n "iat":1795338000,"name":"Ada",…,"code":"…"}\n…\ndone 3';
  const printed =
    '{"id":"01a22792-805b-711e-827a-93fd9ab92d3c","at":"2027-01-01T00:00:00.000Z","iat":1800000000,"name":"Ada","x":1,"code":"7K2M9-QX4TB"}\na\nb\ndone 3\n';
  expectPrinted(printed, shown);
  for (const wrong of [
    printed.replace('Ada', 'Bob'),
    printed.replace('7K2M9-QX4TB', '7K2M9-QX4TB","y":"'),
    printed.replace('01a22792-', ''),
    printed.replace('done 3', 'done 4'),
    `before\n${printed}`,
    `${printed}after\n`,
    printed.replace('"iat"', '"exp"'),
  ])
    expect(() => expectPrinted(wrong, shown), wrong).toThrow('to be');
});
