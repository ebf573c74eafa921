import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { requireProgram } from '../../../tooling/processes/find-program.js';
import { SwaggerPage } from './swagger-page.js';

export class Chromium {
  private constructor(
    private readonly profile: string,
    private readonly context: BrowserContext,
  ) {}

  static async start(): Promise<Chromium> {
    const profile = await mkdtemp(join(tmpdir(), 'accounts-chromium-'));
    const context = await chromium.launchPersistentContext(profile, {
      executablePath: requireProgram('chromium'),
      viewport: { width: 1440, height: 900 },
    });
    return new Chromium(profile, context);
  }

  async open(url: string): Promise<SwaggerPage> {
    return SwaggerPage.open(await this.context.newPage(), url);
  }

  /** An empty page whose requests all have these headers. */
  async page(headers: Record<string, string>): Promise<Page> {
    const page = await this.context.newPage();
    await page.setExtraHTTPHeaders(headers);
    return page;
  }

  /** Every cookie, and every entry of localStorage and IndexedDB, of whatever origin. */
  async stored(): Promise<unknown[]> {
    const { cookies, origins } = await this.context.storageState({ indexedDB: true });
    return [...cookies, ...origins];
  }

  /** Ends the browser, and returns which files of its profile contain one of the texts. */
  async stopAndFind(texts: readonly string[]): Promise<string[]> {
    await this.context.close();
    const entries = await readdir(this.profile, { recursive: true, withFileTypes: true });
    const found: string[] = [];
    for (const { parentPath, name } of entries.filter((entry) => entry.isFile())) {
      const content = await readFile(join(parentPath, name));
      const isIn = (text: string): boolean => content.includes(text) || content.includes(text, 0, 'utf16le');
      found.push(...texts.filter(isIn).map((text) => `${name}: ${text}`));
    }
    await rm(this.profile, { recursive: true });
    return found;
  }
}
