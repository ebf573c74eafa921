import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isCurrent, withSources } from './png-sources.js';

/** One gray pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVQI12NoAAAAggCB3UNq9AAAAABJRU5ErkJggg==',
  'base64',
);

it('says that a picture is out of date once a file that it shows has changed, or is new', () => {
  const directory = mkdtempSync(join(tmpdir(), 'accounts-png-'));
  const shown = join(directory, 'page.css');
  writeFileSync(shown, 'red');
  const picture = withSources(PNG, [join(directory, '*')]);
  expect([isCurrent(PNG), isCurrent(picture)]).toEqual([undefined, true]);

  writeFileSync(shown, 'blue');
  expect(isCurrent(picture)).toBe(false);
  writeFileSync(shown, 'red');
  expect(isCurrent(picture)).toBe(true);
  writeFileSync(join(directory, 'more.css'), '');
  expect(isCurrent(picture)).toBe(false);
  rmSync(directory, { recursive: true });
});

it('refuses to record a file that is not there', () => {
  expect(() => withSources(PNG, ['no/such/file'])).toThrow('a file is missing');
});
