import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import scalar from '@scalar/fastify-api-reference';
import fastify from 'fastify';
import { defineConfig, type DefaultTheme, type MarkdownOptions } from 'vitepress';

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const { version, description } = JSON.parse(read('package.json')) as { version: string; description: string };

/** Files that are no pages, and that a page links or shows. */
const files = new Set<string>();

interface Group {
  text: string;
  items: { text: string; page: string }[];
}

/** The rows of the first table of docs/README.md: what a reader wants, and the pages for it. */
function groups(): Group[] {
  const rows = read('docs/README.md')
    .split('## ')[0]!
    .matchAll(/^\| ([a-z].*?) +\| (.*?) *\|$/gm);
  return [...rows].map(([, want, links]) => ({
    text: capital(want!),
    items: Array.from(links!.matchAll(/\[([^\]]+)\]\(([^)]+\.md)\)/g), ([, text, page]) => ({
      text: capital(text!),
      page: posix.join('docs', page!),
    })),
  }));
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
const routeOf = (page: string): string =>
  `/${page.replace(/README\.md$/, 'index.md').replace(/\.md$/, '.html')}`;

const sidebar = (): DefaultTheme.SidebarItem[] =>
  groups().map(({ text, items }) => ({
    text,
    collapsed: false,
    items: items.map((item) => ({ text: item.text, link: routeOf(item.page) })),
  }));

/** For programs that read: https://llmstxt.org. Each page stands beside its HTML as Markdown. */
const llms = (): string =>
  [
    `# Accounts ${version}\n\n> ${description}`,
    ...groups().map(
      ({ text, items }) =>
        `## ${text}\n\n${items.map((item) => `- [${item.text}](${item.page})`).join('\n')}`,
    ),
    '## API\n\n- [OpenAPI document](docs/openapi.json)\n',
  ].join('\n\n');

/** A page of an example is source, for reading. */
const asText = (path: string): string => path.replace(/\.html$/, '.html.txt');

/** The names that GitHub gives to headings, so that one anchor works in both places. */
const slugify = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');

const asOnGitHub: NonNullable<MarkdownOptions['config']> = (md) => {
  md.core.ruler.after('inline', 'links', ({ tokens, env }) => {
    const { relativePath } = env as { relativePath: string };
    const note = (url: string): void => {
      if (!/^(?:[a-z]+:|#)/.test(url)) files.add(posix.join(posix.dirname(relativePath), url));
    };
    for (const token of tokens.flatMap((each) => [each, ...(each.children ?? [])])) {
      const href = token.attrGet('href');
      if (token.type === 'link_open' && /^[^:]*\.md(?:#|$)/.test(href!)) {
        token.attrSet('href', href!.replace(/\bREADME\.md/, 'index.md'));
      } else if (token.type === 'link_open' && !/^(?:[a-z]+:|#)/.test(href!)) {
        token.attrSet('target', '_self');
        note(href!);
        token.attrSet('href', asText(href!));
      } else if (token.type === 'image') note(token.attrGet('src')!);
      else if (token.type.startsWith('html_'))
        for (const [, url] of token.content.matchAll(/\b(?:src|srcset)="([^"]+)"/g)) note(url!);
    }
  });
  const fence = md.renderer.rules.fence!;
  md.renderer.rules.fence = (tokens, index, ...rest) => {
    const { info, content } = tokens[index]!;
    if (info !== 'mermaid') return fence(tokens, index, ...rest);
    return `<pre class="mermaid" v-pre>${md.utils.escapeHtml(content)}</pre>`;
  };
};

/** Draws the diagrams of the page that is shown. */
const DRAW = `new MutationObserver(async () => {
  const nodes = [...document.querySelectorAll('pre.mermaid:not([data-seen])')];
  if (nodes.length === 0) return;
  nodes.forEach((node) => node.setAttribute('data-seen', ''));
  const script = Object.assign(document.createElement('script'), { src: '/mermaid.js' });
  await new Promise((onload) => document.head.append(Object.assign(script, { onload })));
  const theme = document.documentElement.classList.contains('dark') ? 'dark' : 'neutral';
  mermaid.initialize({ startOnLoad: false, theme });
  for (const node of nodes)
    node.innerHTML = (await mermaid.render('diagram-' + crypto.randomUUID(), node.textContent)).svg;
}).observe(document, { childList: true, subtree: true });`;

async function writeBeside(outDir: string): Promise<void> {
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(outDir, path)), { recursive: true });
    writeFileSync(join(outDir, path), text);
  };
  for (const path of files) cpSync(join(ROOT, path), join(outDir, asText(path)));
  write('llms.txt', llms());
  write('favicon.ico', '');
  const app = fastify();
  const configuration = {
    pageTitle: 'API of Accounts',
    content: read('docs/openapi.json'),
    // The page is for reading: it asks no other server, and Swagger UI sends requests.
    withDefaultFonts: false,
    telemetry: false,
    agent: { disabled: true },
    mcp: { disabled: true },
    hideClientButton: true,
    hideTestRequestButton: true,
    showDeveloperTools: 'never' as const,
  };
  await app.register(scalar, { routePrefix: '/api', configuration });
  for (const [url, path] of [
    ['/api/', 'api/index.html'],
    ['/api/js/scalar.js', 'api/js/scalar.js'],
    ['/api/openapi.json', 'api/openapi.json'],
  ] as const)
    write(path, (await app.inject(url)).body);
  await app.close();
}

export default defineConfig({
  title: 'Accounts',
  description,
  srcDir: '..',
  srcExclude: ['test/!(faults)/**', 'data/**', 'cache/**'],
  additionalConfig: {},
  outDir: 'dist',
  cacheDir: '../cache/site',
  rewrites: (page) => page.replace(/(^|\/)README\.md$/, '$1index.md'),
  ignoreDeadLinks: 'localhostLinks',
  head: [['script', {}, DRAW]],
  markdown: { languageAlias: { cron: 'sh' }, anchor: { slugify }, config: asOnGitHub },
  themeConfig: {
    search: { provider: 'local' },
    nav: [
      { text: 'Documentation', link: '/docs/' },
      { text: 'API', link: '/api/', target: '_self' },
      { text: version, link: '/CHANGELOG.html' },
    ],
    sidebar: sidebar(),
    outline: 'deep',
  },
  buildEnd: async ({ outDir, pages }) => {
    for (const page of pages) cpSync(join(ROOT, page), join(outDir, page));
    cpSync(join(ROOT, 'node_modules/@mermaid-js/tiny/dist/mermaid.tiny.js'), join(outDir, 'mermaid.js'));
    await writeBeside(outDir);
  },
});
