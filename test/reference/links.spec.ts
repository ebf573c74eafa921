import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
/** What users read and its authors write by hand. */
const BY_HAND = [
  'README.md',
  'ARCHITECTURE.md',
  'SECURITY.md',
  'docs/*.md',
  'docs/reference/{errors,configuration,rate-limits,logs}.md',
  'client/README.md',
  'examples/*/README.md',
];
const OTHERS = [
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'docs/**/*.md',
  'examples/**/*.md',
  'bench/*.md',
];
/**
 * Lines include what operators looked for: the checklist, Kubernetes, alerts, upgrades, and the formats of the import. They also
 * include what authors of services looked for: logouts, hooks, races, and a table of events for copies. Strangers got a comparison,
 * questions and answers, the architecture and how it is tested; client authors what goes wrong; operators an upgrade. A line more
 * needs a reader who missed it.
 */
const MAX = { lines: 5775, words: 50_800 };
/** A reader who looks for one task opens one page. */
const MAX_LINES_OF_A_PAGE = 450;
const MAX_LINES = {
  'README.md': 130,
  'ARCHITECTURE.md': 90,
  'docs/why.md': 120,
  'docs/faq.md': 90,
  'docs/how-it-is-tested.md': 90,
  'docs/quickstart-client.md': 60,
  'docs/quickstart-service.md': 60,
  'docs/quickstart-operator.md': 60,
  'docs/concepts.md': 200,
  'docs/migrate.md': 200,
};
const MAX_LINES_OF_DEPLOYMENT = 450;

const find = (patterns: string[]): string[] => globSync(patterns, { cwd: ROOT }).toSorted();
const read = (page: string): string => readFileSync(join(ROOT, page), 'utf8');
const linesOf = (page: string): number => read(page).trimEnd().split('\n').length;
const sum = (numbers: number[]): number => numbers.reduce((all, each) => all + each, 0);

const byHand = find(BY_HAND);
const pages = [...new Set([...byHand, ...find(OTHERS)])];

describe('the pages', () => {
  it.each(pages)('%s leads somewhere with every link', (page) => {
    const dead = linksIn(read(page)).filter((link) => !leadsSomewhere(page, link));
    expect(dead).toEqual([]);
  });

  it('never name the package of strangers on npm', () => {
    expect(pages.filter((page) => /npx (?:-\S+ )*accounts\b/.test(read(page)))).toEqual([]);
  });

  it('by hand are short together', () => {
    expect(byHand.length).toBeGreaterThan(15);
    expect(sum(byHand.map(linesOf))).toBeLessThanOrEqual(MAX.lines);
    expect(sum(byHand.map((page) => read(page).trim().split(/\s+/).length))).toBeLessThanOrEqual(MAX.words);
  });

  it.each(byHand)('%s is short enough to read', (page) => {
    expect(linesOf(page)).toBeLessThanOrEqual(MAX_LINES_OF_A_PAGE);
  });

  it.each(Object.entries(MAX_LINES))('%s has at most %i lines', (page, max) => {
    expect(linesOf(page)).toBeLessThanOrEqual(max);
  });

  it('about deployment are short together', () => {
    const lines = find(['docs/deploy*.md']).map(linesOf);
    expect(lines).toHaveLength(4);
    expect(sum(lines)).toBeLessThanOrEqual(MAX_LINES_OF_DEPLOYMENT);
  });
});

it('the checklist for production has the way of each installation, but for the database and the rehearsal', () => {
  const [, checklist] = /^## Checklist for production\n(.*?)^## /ms.exec(read('docs/deploy.md'))!;
  const steps = checklist!.split(/^(?=\d+\. )/m).slice(1);
  const ways = steps.map((step) => Array.from(step.matchAll(/^ {3}- (\w+): /gm), ([, way]) => way));
  const [all, none] = [['systemd', 'Compose', 'Kubernetes'], []];
  expect(ways).toEqual([all, none, all, all, all, all, all, all, all, none]);
});

it('the page about an upgrade to 0.4 has each change that breaks something', () => {
  const changelog = read('CHANGELOG.md').split(/^## /m);
  const section = changelog.find((each) => each.startsWith('[0.4.0]')) ?? changelog[1]!;
  const kind = section.split(/^### /m).find((each) => each.startsWith('Breaking'))!;
  const breaking = kind.split(/^- /m).slice(1);
  expect(breaking.length).toBeGreaterThan(5);
  const page = read('docs/upgrade-0.4.md');
  const namesIn = (text: string): string[] => Array.from(text.matchAll(/`([^`]+)`/g), ([, name]) => name!);
  expect(breaking.filter((entry) => !namesIn(entry).some((name) => page.includes(name)))).toEqual([]);
});

function leadsSomewhere(page: string, link: string): boolean {
  const [path, anchor] = link.split('#') as [string, string?];
  const target = path === '' ? page : relative(ROOT, resolve(ROOT, dirname(page), decodeURIComponent(path)));
  if (!existsSync(join(ROOT, target))) return false;
  return anchor === undefined || (target.endsWith('.md') && anchorsIn(read(target)).has(anchor));
}

/** The targets of relative links. */
function linksIn(page: string): string[] {
  const text = withoutFences(page).replaceAll(/`[^`\n]*`/g, '');
  const targets = [...text.matchAll(/\]\(<?([^)\s>]+)>?\)/g), ...text.matchAll(/^\[[^\]]+\]: (\S+)$/gm)];
  return targets.map(([, target]) => target!).filter((target) => !/^[a-z]+:/.test(target));
}

/** The names that GitHub gives to headings. */
function anchorsIn(page: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading] of withoutFences(page).matchAll(/^#{1,6} (.+)$/gm)) {
    const name = heading!
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replaceAll(/\\(.)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-');
    let anchor = name;
    for (let count = 1; anchors.has(anchor); count++) anchor = `${name}-${count}`;
    anchors.add(anchor);
  }
  return anchors;
}

const withoutFences = (page: string): string => page.replaceAll(/^ *```.*?^ *```$/gms, '');
