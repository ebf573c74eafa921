/** The part of Electron that examples/desktop uses, for checks in this repository, which does not install Electron. */
import type { Electron } from 'accounts-client/electron';

interface Frame {
  origin: string;
  parent: object | null;
}
interface WebContents {
  send(channel: string, ...message: unknown[]): void;
  setWindowOpenHandler(handler: () => { action: 'deny' }): void;
  on(event: 'will-navigate', listener: (event: { preventDefault(): void }) => void): void;
}

export declare const app: Electron['app'] & {
  requestSingleInstanceLock(): boolean;
  setAsDefaultProtocolClient(scheme: string, path?: string, args?: string[]): boolean;
  quit(): void;
  on(event: 'second-instance', listener: (event: object, argv: string[]) => void): void;
  on(event: 'open-url', listener: (event: object, url: string) => void): void;
};

export declare class BrowserWindow {
  constructor(options: {
    width: number;
    height: number;
    minWidth: number;
    webPreferences: { preload: string; sandbox: true; contextIsolation: true; nodeIntegration: false };
  });
  readonly webContents: WebContents;
  isMinimized(): boolean;
  restore(): void;
  focus(): void;
  setMenuBarVisibility(visible: boolean): void;
  loadURL(url: string): Promise<void>;
}

export declare const ipcMain: Electron['ipcMain'] & {
  handle(
    channel: string,
    answer: (event: { senderFrame: Frame | null }, ...given: unknown[]) => unknown,
  ): void;
};

export declare const protocol: {
  registerSchemesAsPrivileged(
    schemes: { scheme: string; privileges: { standard: true; secure: true; supportFetchAPI: true } }[],
  ): void;
  handle(scheme: string, answer: (request: Request) => Promise<Response>): void;
};

export declare const safeStorage: Electron['safeStorage'];

export declare const session: {
  defaultSession: Electron['session']['defaultSession'] & {
    setPermissionRequestHandler(
      handler: (contents: object, permission: string, answer: (isGranted: boolean) => void) => void,
    ): void;
  };
};

export declare const shell: { openExternal(url: string): Promise<void> };

export declare const contextBridge: { exposeInMainWorld(name: string, api: object): void };

export declare const ipcRenderer: {
  invoke(channel: string, ...message: unknown[]): Promise<unknown>;
  on(channel: string, listener: (event: object, ...message: never[]) => void): void;
};

declare global {
  namespace NodeJS {
    interface Process {
      /** Whether the program was started by `electron .` */
      defaultApp?: boolean;
    }
  }
}
