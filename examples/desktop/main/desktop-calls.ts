import { hostname } from 'node:os';
import type { Client } from 'accounts-client';
import { loginAtProvider, type ProviderLogin, type ProviderLoginFailure } from 'accounts-client/loopback';
import { ipcMain, shell } from 'electron';
import type { Answer, DesktopCalls } from '../bridge.ts';
import type { EngineRoom } from './engine-room.ts';
import { ORIGIN } from './page-files.ts';

/** Answers what the page calls as `desktop`. The page gets no token. */
export function answerDesktopCalls(
  client: Client,
  engineRoom: EngineRoom,
  takeInvitation: () => string | undefined,
): void {
  const deviceName = hostname().slice(0, 60);
  const open = (url: string): Promise<void> => shell.openExternal(url);
  let waiting = new AbortController();
  let failure: ProviderLoginFailure | undefined;

  const answerOf = (login: ProviderLogin): Answer => {
    if (login.ok) return { ok: true };
    failure = login;
    const { code, detail, retryAfter } = login.problem;
    return { ok: false, problem: { code, detail, retryAfter } };
  };
  const calls: DesktopCalls = {
    deviceName: async () => deviceName,
    takeInvitation: async () => takeInvitation(),
    logInAtProvider: async (provider) => {
      waiting.abort();
      waiting = new AbortController();
      const { signal } = waiting;
      return answerOf(await loginAtProvider(client, { provider, open, deviceName, signal }));
    },
    proveLogin: async (proof) => answerOf(await failure!.retry(proof)),
    cancelLogin: async () => waiting.abort(),
    enterEngineRoom: (orgId) => engineRoom.enter(orgId),
  };
  for (const [name, call] of Object.entries(calls) as [string, (given: unknown) => Promise<unknown>][]) {
    ipcMain.handle(`desktop:${name}`, ({ senderFrame }, given: unknown) => {
      if (senderFrame?.origin !== ORIGIN || senderFrame.parent !== null) throw new Error('not this page');
      return call(given);
    });
  }
}
