import { lstatSync, rmSync, statSync } from 'node:fs';
import type { Server } from 'node:http';
import { connect, isIP, Server as NetServer } from 'node:net';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { refuse, WrongUsage } from './wrong-usage.ts';

/** How long connections that were idle when the stop began may still send a request. */
const GRACE_MS = 1_000;
const STOP_TIMEOUT_MS = 9_000;

export type Address = { host: string; port: number } | { path: string };

/** @throws Error that says what is wrong */
export function addressOf(text: string, isRemoteAllowed: boolean): Address {
  if (text.startsWith('unix:')) return { path: socketPathOf(text.slice('unix:'.length)) };
  const [, v6, other = '', digits = ''] = /^(?:\[([^\]]*)\]|([^:]*)):(\d{1,5})$/.exec(text) ?? [];
  const host = v6 ?? (other === 'localhost' ? '127.0.0.1' : other);
  if (isIP(host) !== (v6 === undefined ? 4 : 6))
    refuse(`${text} is not IP:PORT, [IP]:PORT, localhost:PORT or unix:/PATH`);
  const port = Number(digits);
  if (port < 1 || port > 65_535) refuse(`the port of ${text} is not between 1 and 65535`);
  if (!isRemoteAllowed && !host.startsWith('127.') && host !== '::1')
    refuse(`${text} is not loopback, which --allow-remote would permit; the traffic is not encrypted`);
  return { host, port };
}

/** The address of a socket has 108 bytes on Linux, one of which ends the path. */
function socketPathOf(path: string): string {
  if (!path.startsWith('/')) refuse('unix: needs a path that begins with /');
  if (Buffer.byteLength(path) > 107) refuse('the path of the socket is longer than 107 bytes');
  const isThere = statSync(dirname(path), { throwIfNoEntry: false })?.isDirectory();
  return isThere ? path : refuse(`there is no directory ${dirname(path)}`);
}

/** @throws WrongUsage if the address is in use */
export async function listen(server: Server, address: Address, socketMode: number): Promise<void> {
  if ('path' in address) await removeStale(address.path);
  // The socket file has its mode from the first moment on: Node binds before `listen` returns.
  const umask = 'path' in address ? process.umask(0o777 & ~socketMode) : undefined;
  try {
    await new Promise<void>((listening, fail) => {
      server.once('error', fail);
      server.listen(address, () => {
        server.off('error', fail);
        listening();
      });
      if (umask !== undefined) process.umask(umask);
    });
  } catch (error) {
    throw new WrongUsage([`cannot listen: ${(error as Error).message}`]);
  }
}

/** Removes the socket file of a process that was killed. @throws WrongUsage if the file is something else */
async function removeStale(path: string): Promise<void> {
  const file = lstatSync(path, { throwIfNoEntry: false });
  if (!file) return;
  if (!file.isSocket()) throw new WrongUsage([`cannot listen: ${path} exists, and is no socket`]);
  const code = await new Promise<string | undefined>((done) => {
    const socket = connect(path, () => {
      socket.destroy();
      done(undefined);
    });
    socket.once('error', (error: NodeJS.ErrnoException) => done(error.code ?? ''));
  });
  if (code === 'ECONNREFUSED') rmSync(path, { force: true });
  else throw new WrongUsage([`cannot listen: ${path} is in use${code ? ` (${code})` : ''}`]);
}

/** Accepts no connection from now on. Those that are open may still send a request, because one may be on its way. */
export async function closeSlowly(server: Server): Promise<void> {
  // `close` of the HTTP server would end idle connections at once.
  const closed = new Promise((done) => NetServer.prototype.close.call(server, done));
  const timeout = new AbortController();
  const { signal } = timeout;
  void delay(GRACE_MS, undefined, { signal }).then(
    () => server.closeIdleConnections(),
    () => undefined,
  );
  void delay(STOP_TIMEOUT_MS, undefined, { signal }).then(
    () => server.closeAllConnections(),
    () => undefined,
  );
  await closed;
  timeout.abort();
}
