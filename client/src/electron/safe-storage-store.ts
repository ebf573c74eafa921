import { fileStore } from '../file-store.ts';
import type { Slot, TokenStore } from '../store.ts';

/** `safeStorage` of Electron 42 or later. */
export interface SafeStorage {
  isAsyncEncryptionAvailable(): Promise<boolean>;
  encryptStringAsync(text: string): Promise<Uint8Array>;
  decryptStringAsync(encrypted: Uint8Array): Promise<{ result: string }>;
}

/** Creates a `fileStore` whose texts are encrypted with a key of the operating system. */
export function safeStorageStore(path: string, safeStorage: SafeStorage): TokenStore {
  const file = fileStore(path);
  const encrypted = (slot: Slot): Slot => ({
    load: async () => {
      const text = await slot.load();
      if (!text) return undefined;
      return (await safeStorage.decryptStringAsync(Buffer.from(text, 'base64'))).result;
    },
    save: async (text) => {
      const bytes = text === undefined ? undefined : await safeStorage.encryptStringAsync(text);
      await slot.save(bytes && Buffer.from(bytes).toString('base64'));
    },
  });
  const logOuts = encrypted(file.logOuts);
  return {
    ...file,
    ...encrypted(file),
    // If the key is lost, the queue starts over, since nothing could be added to it any more.
    logOuts: { ...logOuts, load: () => Promise.resolve(logOuts.load()).catch(() => undefined) },
    me: encrypted(file.me),
  };
}
