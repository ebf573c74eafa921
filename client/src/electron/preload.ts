import type { SessionChange } from '../session-changes.ts';
import { type Bridge, CHANNEL } from './messages.ts';

interface RendererModule {
  contextBridge: { exposeInMainWorld(name: string, api: Bridge): void };
  ipcRenderer: {
    invoke(channel: string, ...message: unknown[]): ReturnType<Bridge['call']>;
    on(channel: string, listener: (event: object, change: SessionChange) => void): unknown;
  };
}

// The build makes one CommonJS file of this, because a sandboxed preload script can load nothing but `electron`.
declare const require: (name: 'electron') => RendererModule;

const { contextBridge, ipcRenderer } = require('electron');

contextBridge.exposeInMainWorld('accountsClient', {
  call: (name, input, options) => ipcRenderer.invoke(CHANNEL, name, input, options),
  // The page gets neither the event nor `ipcRenderer`, which have every channel.
  listen: (listener) => void ipcRenderer.on(CHANNEL, (_event, change) => listener(change)),
});
