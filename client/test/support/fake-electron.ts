import { EventEmitter } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import type { Electron } from '../../src/electron/index.ts';
import * as messages from '../../src/electron/messages.ts';

type Handler = Parameters<Electron['ipcMain']['handle']>[1];
type Listener = (event: object, ...sent: unknown[]) => void;
type Fn = (...given: unknown[]) => unknown;

interface Renderer {
  contextBridge: { exposeInMainWorld(name: 'accountsClient', api: Record<string, Fn>): void };
  ipcRenderer: {
    invoke(channel: string, ...sent: unknown[]): Promise<unknown>;
    on(channel: string, listener: Listener): object;
  };
}

const SOURCE = readFileSync(join(import.meta.dirname, '../../src/electron/preload.ts'), 'utf8');
const PRELOAD = ts.transpileModule(SOURCE, {
  compilerOptions: { module: ts.ModuleKind.CommonJS },
}).outputText;

/** Electron's processes in one: what passes from one to another is cloned, and an error becomes an `Error` with its text. */
export class FakeElectron {
  /** Everything that passed between a page and the main process. */
  readonly messages: unknown[] = [];
  readonly preloads: string[] = [];
  private readonly handlers = new Map<string, Handler>();
  readonly electron: Electron;

  constructor(userData: string, { canEncrypt = true, ready = Promise.resolve() } = {}) {
    this.electron = {
      app: { getPath: () => userData, whenReady: () => ready },
      ipcMain: {
        handle: (channel, handler) => {
          if (this.handlers.has(channel))
            throw new Error(`Attempted to register a second handler for '${channel}'`);
          this.handlers.set(channel, handler);
        },
      },
      safeStorage: {
        isAsyncEncryptionAvailable: () => Promise.resolve(canEncrypt),
        encryptStringAsync: (text) => Promise.resolve(flipped(Buffer.from(`v11${text}`))),
        decryptStringAsync: (bytes) => {
          const text = Buffer.from(flipped(bytes)).toString();
          return text.startsWith('v11')
            ? Promise.resolve({ result: text.slice(3) })
            : Promise.reject(new Error('Error while decrypting the ciphertext'));
        },
      },
      session: { defaultSession: { registerPreloadScript: ({ filePath }) => this.preloads.push(filePath) } },
    };
  }

  async invoke(page: FakePage, channel: string, sent: unknown[]): Promise<unknown> {
    const received = this.clone(sent) as unknown[];
    await Promise.resolve();
    const event = { sender: page.contents, senderFrame: page.isGone ? null : page.frame };
    return this.handle(event, channel, received).then(
      (answer) => this.clone(answer),
      (error: unknown) => {
        const text = this.clone(String(error)) as string;
        throw new Error(`Error invoking remote method '${channel}': ${text}`);
      },
    );
  }

  private async handle(
    event: Parameters<Handler>[0],
    channel: string,
    received: unknown[],
  ): Promise<unknown> {
    const handler = this.handlers.get(channel);
    if (!handler) throw new Error(`No handler registered for '${channel}'`);
    return handler(event, ...received);
  }

  clone(message: unknown): unknown {
    this.messages.push(structuredClone(message));
    return structuredClone(message);
  }
}

/** A window, and a document after another in it. */
export class FakeContents extends EventEmitter {
  page: FakePage | undefined;

  get mainFrame(): FakePage['frame'] {
    if (!this.page) throw new TypeError('Object has been destroyed');
    return this.page.frame;
  }

  destroy(): void {
    this.page = undefined;
    this.emit('destroyed');
  }
}

/** A document of a window, after its preload script ran. */
export class FakePage {
  readonly contents: FakeContents;
  readonly frame: { origin: string; parent: object | null; send(channel: string, ...sent: unknown[]): void };
  accountsClient: unknown;
  private readonly listeners = new Map<string, Set<Listener>>();

  constructor(
    app: FakeElectron,
    origin: string,
    {
      contents = new FakeContents(),
      parent = null,
    }: { contents?: FakeContents; parent?: object | null } = {},
  ) {
    this.contents = contents;
    if (parent === null) contents.page = this;
    this.frame = {
      origin,
      parent,
      send: (channel, ...sent) => {
        for (const listener of this.listenersOf(channel))
          listener({ sender: {} }, ...(app.clone(sent) as unknown[]));
      },
    };
    const renderer: Renderer = {
      contextBridge: {
        exposeInMainWorld: (name: 'accountsClient', api: Record<string, Fn>) => {
          this[name] = Object.fromEntries(Object.entries(api).map(([key, one]) => [key, acrossWorlds(one)]));
        },
      },
      ipcRenderer: {
        invoke: (channel: string, ...sent: unknown[]) => app.invoke(this, channel, sent),
        on: (channel: string, listener: Listener) => {
          this.listenersOf(channel).add(listener);
          return renderer.ipcRenderer;
        },
      },
    };
    const modules: Record<string, unknown> = { electron: renderer, './messages.ts': messages };
    // oxlint-disable-next-line no-new-func, no-implied-eval
    new Function('require', 'exports', PRELOAD)((name: string) => modules[name], {});
  }

  get isGone(): boolean {
    return this.frame.parent === null && this.contents.page !== this;
  }

  private listenersOf(channel: string): Set<Listener> {
    if (!this.listeners.has(channel)) this.listeners.set(channel, new Set());
    return this.listeners.get(channel)!;
  }
}

/** The bridge between the worlds of a page and its preload script passes functions on and clones everything else. */
function acrossWorlds(value: unknown): unknown {
  if (typeof value === 'function')
    return (...given: unknown[]) => acrossWorlds((value as Fn)(...given.map(acrossWorlds)));
  if (value instanceof Promise) return value.then(acrossWorlds);
  return structuredClone(value);
}

function flipped(bytes: Uint8Array): Uint8Array {
  return bytes.map((byte) => byte ^ 0x5a);
}
