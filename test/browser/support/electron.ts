import { EventEmitter } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import type { Chromium } from './chromium.js';

type Handler = (event: object, ...given: unknown[]) => unknown;
interface Surroundings {
  chromium: Chromium;
  userData: string;
  /** of the user's browser */
  openExternal: (url: string) => Promise<void>;
}

const ORIGIN = 'app://desktop';
/** A secure context, as Electron makes of the scheme. */
const SHOWN_AT = 'https://desktop.test';

/**
 * Electron for examples/desktop, whose binary cannot be installed everywhere. The main process is that of the test. A window is
 * a page of Chromium in which the preload scripts run as they are, and a message is a copy.
 */
export const stand = {
  surroundings: undefined as Surroundings | undefined,
  handlers: new Map<string, Handler>(),
  preloads: [] as string[],
  files: undefined as ((request: { url: string }) => Promise<Response>) | undefined,
  /** every answer to a page */
  answers: [] as string[],
  page: Promise.withResolvers<Page>(),
};

export const app = Object.assign(new EventEmitter(), {
  whenReady: () => Promise.resolve(),
  getPath: () => stand.surroundings!.userData,
  requestSingleInstanceLock: () => true,
  setAsDefaultProtocolClient: () => true,
  quit: () => undefined,
});

export const ipcMain = {
  handle: (channel: string, handler: Handler): void => void stand.handlers.set(channel, handler),
};

export const protocol = {
  registerSchemesAsPrivileged: (): void => undefined,
  handle: (_scheme: string, files: typeof stand.files): void => void (stand.files = files),
};

export const safeStorage = {
  isAsyncEncryptionAvailable: () => Promise.resolve(true),
  encryptStringAsync: (text: string) => Promise.resolve(Buffer.from(text).toReversed()),
  decryptStringAsync: (bytes: Uint8Array) =>
    Promise.resolve({ result: Buffer.from(bytes.toReversed()).toString() }),
};

export const session = {
  defaultSession: {
    registerPreloadScript: ({ filePath }: { filePath: string }): void => void stand.preloads.push(filePath),
    setPermissionRequestHandler: (): void => undefined,
  },
};

export const shell = { openExternal: (url: string): Promise<void> => stand.surroundings!.openExternal(url) };

export class BrowserWindow {
  private page: Page | undefined;
  readonly webContents = Object.assign(new EventEmitter(), {
    setWindowOpenHandler: (): void => undefined,
    send: (channel: string, ...given: unknown[]): void => void this.send(channel, given),
  });

  constructor({ webPreferences }: { webPreferences: { preload: string } }) {
    stand.preloads.push(webPreferences.preload);
  }

  async loadURL(url: string): Promise<void> {
    const page = await stand.surroundings!.chromium.page({});
    this.page = page;
    await page.exposeBinding('invoke', ({ frame }, channel: string, given: unknown[]) =>
      this.answer(new URL(frame.url()).origin, channel, given),
    );
    await page.addInitScript({ content: await preloadOf(stand.preloads) });
    await page.route(`${SHOWN_AT}/**`, async (route) => {
      const answer = await stand.files!({ url: route.request().url().replace(SHOWN_AT, ORIGIN) });
      const [status, headers] = [answer.status, Object.fromEntries(answer.headers)];
      await route.fulfill({ status, headers, body: await answer.text() });
    });
    await page.goto(url.replace(ORIGIN, SHOWN_AT));
    stand.page.resolve(page);
  }

  isMinimized(): boolean {
    return false;
  }

  focus(): void {
    void this.page?.bringToFront();
  }

  setMenuBarVisibility(): void {
    // A page has no menu.
  }

  private async answer(origin: string, channel: string, given: unknown[]): Promise<unknown> {
    const frame = { origin: origin.replace(SHOWN_AT, ORIGIN), parent: null, send: this.webContents.send };
    const sender = Object.assign(this.webContents, { mainFrame: frame });
    const answer = await stand.handlers.get(channel)!({ sender, senderFrame: frame }, ...given);
    stand.answers.push(JSON.stringify(answer) ?? '');
    return answer;
  }

  private async send(channel: string, given: unknown[]): Promise<void> {
    await this.page?.evaluate(`receive(${JSON.stringify(channel)}, ${JSON.stringify(given)})`);
  }
}

/** The preload scripts, with what they load of Electron. */
async function preloadOf(paths: readonly string[]): Promise<string> {
  const scripts = await Promise.all(paths.map((path) => readFile(path, 'utf8')));
  return `{
    const listeners = new Map();
    const contextBridge = { exposeInMainWorld: (name, api) => (window[name] = api) };
    const ipcRenderer = {
      invoke: (channel, ...given) => window.invoke(channel, given),
      on: (channel, listener) => listeners.set(channel, listener),
    };
    window.receive = (channel, given) => listeners.get(channel)?.({}, ...given);
    const require = () => ({ contextBridge, ipcRenderer });
    ${scripts.map((script) => `(function (exports, module) { ${script}\n })({}, {});`).join('\n')}
  }`;
}
