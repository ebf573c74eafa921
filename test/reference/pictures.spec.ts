import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isCurrent } from '../../tooling/png-sources.js';

const ROOT = resolve(import.meta.dirname, '../..');
const find = (patterns: string[]): string[] => globSync(patterns, { cwd: ROOT }).toSorted();
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

const pages = find(['*.md', 'docs/**/*.md', 'client/*.md', 'examples/**/*.md', 'bench/*.md']);
const shown = pages.flatMap((page) =>
  Array.from(read(page).matchAll(/!\[([^\]]*)\]\(([^)]+)\)/g), ([, alt, target]) => ({
    page,
    alt: alt!,
    target: join(dirname(page), target!),
  })),
);
const there = find(['docs/pictures/*']);
const svgs = there.filter((file) => file.endsWith('.svg'));

describe('a picture', () => {
  it('says what it shows to readers who do not see it, wherever a page shows it', () => {
    expect(shown.length).toBeGreaterThan(3);
    expect(shown.filter(({ alt }) => alt.split(' ').length < 5)).toEqual([]);
  });

  it('is there, and each one that is there is shown', () => {
    const targets = [...new Set(shown.map(({ target }) => target))];
    expect(targets.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
    expect(there.filter((file) => !targets.includes(file))).toEqual([]);
  });

  it('that was taken of a program is as new as the program (npm run test:page takes it again)', () => {
    const taken = there.filter((file) => !svgs.includes(file));
    expect(taken.length).toBeGreaterThan(0);
    expect(taken.filter((file) => isCurrent(readFileSync(join(ROOT, file))) !== true)).toEqual([]);
  });

  it.each(svgs)('has a title, a description, and colors for light and dark of the same parts: %s', (file) => {
    const svg = read(file);
    expect(svg).toMatch(/^<svg [^>]*role="img" aria-labelledby="title desc">/);
    expect(svg).toMatch(/<title id="title">[^<]{20,}<\/title>/);
    expect(svg).toMatch(/<desc id="desc">[^<]{200,}<\/desc>/);
    const [light, dark] = svg.split('@media (prefers-color-scheme: dark)') as [string, string?];
    expect(coloredIn(light)).toEqual(coloredIn(dark ?? ''));
    expect(svg).not.toMatch(/(?:fill|stroke)="#/);
  });
});

/** The properties with a color, by selector. */
function coloredIn(css: string): string[] {
  return [...css.matchAll(/^ *([.\w-]+) \{ (.*) \}$/gm)]
    .flatMap(([, selector, rules]) =>
      Array.from(rules!.matchAll(/(fill|stroke): #/g), ([, property]) => `${selector} ${property}`),
    )
    .toSorted();
}
