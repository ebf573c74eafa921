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
  const shown = '{"id":"019a…","at":"2026-11-26T09:30:00.000Z",\n "name":"Ada",…,"code":"…"}\n…\ndone';
  const printed = (name: string, code = '7K2M9-QX4TB'): string =>
    `{"id":"${crypto.randomUUID()}","at":"2027-01-01T00:00:00.000Z","name":"${name}","x":1,"code":"${code}"}\na\nb\ndone\n`;
  expectPrinted(printed('Ada'), shown);
  for (const wrong of [printed('Bob'), printed('Ada', 'x","y":"'), printed('Ada').replace('done', 'failed')])
    expect(() => expectPrinted(wrong, shown)).toThrow('to be');
});
