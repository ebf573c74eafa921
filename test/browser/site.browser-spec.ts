import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import serveFiles from '@fastify/static';
import fastify from 'fastify';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hangTimeoutMs } from '../../tooling/wait.js';
import { Chromium } from './support/chromium.js';

const SITE = resolve('site/dist');

interface Shown {
  ids: string[];
  links: string[];
  pictures: { src: string; alt: string; width: number }[];
  diagrams: number;
}

/** Runs in the page. */
const SHOWN = `({
  ids: Array.from(document.querySelectorAll('[id]'), ({ id }) => id),
  links: Array.from(document.querySelectorAll('a[href]'), ({ href }) => href),
  pictures: Array.from(document.images, ({ currentSrc, alt, naturalWidth }) =>
    ({ src: currentSrc, alt, width: naturalWidth })),
  diagrams: document.querySelectorAll('pre.mermaid svg').length,
})`;

describe('the site', () => {
  const server = fastify();
  let url: string;
  let browser: Chromium;
  let page: Page;
  const complaints: string[] = [];
  const elsewhere: string[] = [];

  beforeAll(async () => {
    await promisify(execFile)('npm', ['run', '--silent', 'site']);
    await server.register(serveFiles, { root: SITE });
    url = await server.listen({ port: 0, host: '127.0.0.1' });
    browser = await Chromium.start();
    page = await browser.page({});
    page.setDefaultTimeout(hangTimeoutMs());
    page.on('request', (request) => {
      if (!/^(?:data|blob):/.test(request.url()) && !request.url().startsWith(url))
        elsewhere.push(request.url());
    });
    page.on('pageerror', (error) => complaints.push(`${page.url()}: ${String(error)}`));
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(`${page.url()}: ${message.text()}`);
    });
  });
  afterAll(async () => {
    await browser.stopAndFind([]);
    await server.close();
  });

  async function show(path: string): Promise<Shown> {
    await page.goto(`${url}/${path}`);
    await page.waitForFunction("document.querySelector('pre.mermaid:not(:has(svg))') === null");
    return page.evaluate<Shown>(SHOWN);
  }

  it('leads somewhere with every link of every page, and shows every picture', async () => {
    const paths = globSync('**/*.html', { cwd: SITE }).filter((path) => !/^(?:404|api\b)/.test(path));
    expect(paths.length).toBeGreaterThan(60);
    const shown = new Map<string, Shown>();
    for (const path of paths) shown.set(`${url}/${path}`, await show(path));

    const pageOf = (link: string): string => link.replace(/#.*/, '').replace(/\/$/, '/index.html');
    const links = new Set(
      [...shown.values()].flatMap((one) => one.links.filter((link) => link.startsWith(url))),
    );
    const dead: string[] = [];
    for (const target of new Set([...links].map(pageOf)))
      if (!shown.has(target) && (await fetch(target, { method: 'HEAD' })).status !== 200) dead.push(target);
    for (const link of links) {
      const anchor = decodeURIComponent(/#(.+)/.exec(link)?.[1] ?? '');
      if (anchor !== '' && shown.get(pageOf(link))?.ids.includes(anchor) !== true) dead.push(link);
    }
    expect(dead).toEqual([]);

    const all = [...shown.values()];
    expect(all.flatMap(({ pictures }) => pictures.filter(({ alt, width }) => !alt || !width))).toEqual([]);
    expect(all.some(({ diagrams }) => diagrams > 0)).toBe(true);
  });

  it('finds a page by a word of it', async () => {
    await page.goto(url);
    await page.getByRole('button', { name: 'Search' }).first().click();
    await page.locator('.VPLocalSearchBox input').fill('orStale');
    await page.locator('.VPLocalSearchBox .result', { hasText: 'Start without the network' }).click();
    await page.waitForURL('**/docs/clients.html#*');
    expect(new URL(page.url()).hash).toBe('#start-without-the-network-orstale');
  });

  it('has the reference of the API, without a server', async () => {
    await page.goto(`${url}/api/`);
    await page.getByText('Complete a login with 2FA').first().waitFor();
    expect(await page.title()).toBe('API of Accounts');
  });

  it('names each page for programs', async () => {
    const text = await (await fetch(`${url}/llms.txt`)).text();
    const pages = Array.from(text.matchAll(/\]\(([^)]+)\)/g), ([, path]) => path!);
    expect(pages.length).toBeGreaterThan(25);
    for (const path of pages) expect((await fetch(`${url}/${path}`)).status, path).toBe(200);
  });

  it('asks no other server for anything, and has no errors', () => {
    expect({ complaints, elsewhere }).toEqual({ complaints: [], elsewhere: [] });
  });
});
