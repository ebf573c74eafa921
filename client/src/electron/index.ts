import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type Client, createClient } from '../client.ts';
import { requireKnown } from '../known-members.ts';
import { CLIENT_OPTIONS, type ClientOptions } from '../options.ts';
import { memoryStore } from '../store.ts';
import { CHANNEL } from './messages.ts';
import { type CallEvent, PageCalls } from './page-calls.ts';
import { type SafeStorage, safeStorageStore } from './safe-storage-store.ts';

export { safeStorageStore } from './safe-storage-store.ts';

/** What `createMainClient` uses of the module `electron`. */
export interface Electron {
  app: { whenReady(): Promise<void>; getPath(name: 'userData'): string };
  ipcMain: {
    handle(channel: string, answer: (event: CallEvent, ...message: unknown[]) => Promise<unknown>): void;
  };
  safeStorage: SafeStorage;
  session: {
    defaultSession: { registerPreloadScript(script: { type: 'frame'; filePath: string }): unknown };
  };
}

export interface MainClientOptions extends Omit<ClientOptions, 'store'> {
  /** The module `electron`, version 42 or later. */
  electron: Electron;
  /** The origins whose pages may call, such as `app://accounts`. It may be empty. */
  origins: readonly string[];
  /** The file of the session: `accounts-session` in `userData` by default. */
  file?: string | undefined;
  /** False if your own preload script imports `accounts-client/electron/preload`. */
  preload?: boolean | undefined;
}

const OPTIONS = [
  'electron',
  'origins',
  'file',
  'preload',
  ...CLIENT_OPTIONS.filter((name) => name !== 'store'),
];

/** As Chromium writes it: a scheme and a host in lower case, without a path. */
const ORIGIN = /^[a-z][a-z\d+.-]*:\/\/[^\sA-Z*/?#@]*$/;

/**
 * Creates the client of the main process, which also answers the clients of pages. The session is in a file that a key of
 * the operating system encrypts, or in memory if there is no encryption.
 *
 * It waits until Electron is ready, which is after an ES module of the main process has run: do not await it at its top level.
 *
 * @throws TypeError for an unknown or invalid option, and for a second call
 */
export async function createMainClient(options: MainClientOptions): Promise<Client> {
  requireKnown('createMainClient does', options, OPTIONS);
  const { electron, origins, file, preload = true, ...others } = options;
  if (!Array.isArray(origins) || !origins.every((one) => ORIGIN.test(String(one))))
    throw new TypeError('origins must be a list of origins without a path, such as app://accounts');
  const { app, ipcMain, safeStorage, session } = electron;
  // Before that, there is no encryption, and the session would be lost at each exit.
  await app.whenReady();
  const filePath = preload && createRequire(import.meta.url).resolve('accounts-client/electron/preload');
  const path = file ?? join(app.getPath('userData'), 'accounts-session');
  const canEncrypt = await safeStorage.isAsyncEncryptionAvailable();
  const store = canEncrypt ? safeStorageStore(path, safeStorage) : memoryStore();
  const client = createClient({ ...others, store });
  const calls = new PageCalls(client, origins);
  try {
    ipcMain.handle(CHANNEL, (event, name, input, given) => calls.answer(event, name, input, given));
  } catch (cause) {
    throw new TypeError('createMainClient was called before', { cause });
  }
  if (filePath) session.defaultSession.registerPreloadScript({ type: 'frame', filePath });
  return client;
}
