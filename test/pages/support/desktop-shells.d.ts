// What the pages for clients use of two packages that no test can run, as their own declarations say it.

/** electron 45.5.0 */
declare module 'electron' {
  interface WebFrameMain {
    send(channel: string, ...args: unknown[]): void;
    readonly origin: string;
    readonly parent: WebFrameMain | null;
  }
  interface WebContents {
    once(event: 'destroyed', listener: () => void): this;
    once(event: 'dom-ready', listener: (event: object) => void): this;
    readonly mainFrame: WebFrameMain;
  }
  interface IpcMainInvokeEvent {
    sender: WebContents;
    readonly senderFrame: WebFrameMain | null;
    type: 'frame';
  }
  export const app: {
    getPath(name: 'home' | 'userData'): string;
    whenReady(): Promise<void>;
  };
  export const ipcMain: {
    handle(channel: string, listener: (event: IpcMainInvokeEvent, ...args: never[]) => unknown): void;
  };
  export const safeStorage: {
    decryptStringAsync(encrypted: Buffer): Promise<{ result: string; shouldReEncrypt: boolean }>;
    encryptStringAsync(plainText: string): Promise<Buffer>;
    isAsyncEncryptionAvailable(): Promise<boolean>;
  };
  interface PreloadScriptRegistration {
    filePath: string;
    id?: string;
    type: 'frame' | 'service-worker';
  }
  class Session {
    static defaultSession: Session;
    registerPreloadScript(script: PreloadScriptRegistration): string;
  }
  export const session: typeof Session;
  export const shell: { openExternal(url: string): Promise<void> };
}

/** @tauri-apps/api 2.12.5 */
declare module '@tauri-apps/api/core' {
  type InvokeArgs = Record<string, unknown> | number[] | ArrayBuffer | Uint8Array;
  export function invoke<T>(cmd: string, args?: InvokeArgs): Promise<T>;
}
