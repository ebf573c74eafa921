import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const find = (patterns: string[]): string[] => globSync(patterns, { cwd: ROOT }).toSorted();
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

const pages = find(['*.md', 'docs/**/*.md', 'client/*.md', 'examples/**/*.md', 'bench/*.md']);
/** Drawn by hand; programs draw the others. */
const drawn = ['docs/pictures/architecture.svg', 'docs/pictures/hand-off.svg'];

describe('a picture', () => {
  it('says what it shows to readers who do not see it, wherever a page shows it', () => {
    const shown = pages.flatMap((page) =>
      Array.from(read(page).matchAll(/!\[([^\]]*)\]\(([^)]+)\)/g), ([, alt, target]) => ({
        page,
        alt,
        target,
      })),
    );
    expect(shown.filter(({ alt }) => alt!.split(' ').length < 5)).toEqual([]);
    const targets = shown.map(({ target }) => target!);
    expect(
      drawn.filter((file) => !targets.some((target) => file.endsWith(target.replace(/^\W+/, '')))),
    ).toEqual([]);
  });

  it.each(drawn)(
    'has a title, a description, and colors for light and dark of the same parts: %s',
    (file) => {
      const svg = read(file);
      expect(svg).toMatch(/^<svg [^>]*role="img" aria-labelledby="title desc">/);
      expect(svg).toMatch(/<title id="title">[^<]{20,}<\/title>/);
      expect(svg).toMatch(/<desc id="desc">[^<]{200,}<\/desc>/);
      const [light, dark] = svg.split('@media (prefers-color-scheme: dark)') as [string, string?];
      expect(coloredIn(light)).toEqual(coloredIn(dark ?? ''));
      expect(svg).not.toMatch(/(?:fill|stroke)="#/);
    },
  );
});

/** The properties with a color, by selector. */
function coloredIn(css: string): string[] {
  return [...css.matchAll(/^ *([.\w-]+) \{ (.*) \}$/gm)]
    .flatMap(([, selector, rules]) =>
      Array.from(rules!.matchAll(/(fill|stroke): #/g), ([, property]) => `${selector} ${property}`),
    )
    .toSorted();
}
