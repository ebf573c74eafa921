// What docs/clients.md uses of two packages that no test can run, as their own declarations say it.

/** electron 45.5.0 */
declare module 'electron' {
  export const app: {
    getPath(name: 'userData'): string;
    whenReady(): Promise<void>;
  };
  export const safeStorage: {
    decryptStringAsync(encrypted: Buffer): Promise<{ result: string; shouldReEncrypt: boolean }>;
    encryptStringAsync(plainText: string): Promise<Buffer>;
    isAsyncEncryptionAvailable(): Promise<boolean>;
  };
}

/** @tauri-apps/api 2.12.5 */
declare module '@tauri-apps/api/core' {
  type InvokeArgs = Record<string, unknown> | number[] | ArrayBuffer | Uint8Array;
  export function invoke<T>(cmd: string, args?: InvokeArgs): Promise<T>;
}
