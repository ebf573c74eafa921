import type { DesktopCalls } from './bridge.ts' with { 'resolution-mode': 'import' };

// A sandboxed preload script can load nothing but `electron`.
const { contextBridge, ipcRenderer } = require('electron') as typeof import('electron');

const CALLS: Record<keyof DesktopCalls, true> = {
  deviceName: true,
  takeInvitation: true,
  logInAtProvider: true,
  proveLogin: true,
  cancelLogin: true,
  enterEngineRoom: true,
};
const callOf = (name: string) => (given?: unknown) => ipcRenderer.invoke(`desktop:${name}`, given);

// The page gets neither `ipcRenderer`, which has every channel, nor its events.
contextBridge.exposeInMainWorld('desktop', {
  ...Object.fromEntries(Object.keys(CALLS).map((name) => [name, callOf(name)])),
  onInvitation: (listener: () => void) => {
    ipcRenderer.on('desktop:invitation', () => listener());
  },
});
