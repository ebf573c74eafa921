import { lstatSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import { connect, Server as NetServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { createGuard } from '../service/feed-guard.ts';
import type { Guard } from '../service/guard.ts';
import type { GuardOptions } from '../service/guard-options.ts';
import { Reasons } from '../service/reasons.ts';
import { Log } from './log.ts';
import { Metrics } from './metrics.ts';
import { serverOf } from './server.ts';
import { type Listen, type Settings, shownOf, VERSION, WrongUsage } from './settings.ts';

/** How long connections that were idle when the stop began may still send a request. */
const GRACE_MS = 1_000;
const STOP_TIMEOUT_MS = 9_000;

export function guardOf(settings: Settings, more: Partial<GuardOptions>): Guard {
  const { issuer, url, audience, service, secret, maxStaleness, remember } = settings;
  return createGuard({
    issuer,
    audience,
    baseUrl: url,
    credentials: { name: service, secret },
    maxStaleness,
    limits: { tokens: remember, sessions: remember, memberships: remember },
    ...more,
  });
}

/**
 * Runs until the process receives SIGTERM or SIGINT.
 *
 * @throws WrongUsage if it cannot listen
 */
export async function run(settings: Settings): Promise<void> {
  const log = new Log();
  const metrics = new Metrics(VERSION);
  const reasons = new Reasons(settings.service, settings.url);
  let reason = 'the event feed has not answered yet';
  let isStopping = false;
  const stopped = new Promise<void>((stop) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const)
      process.on(signal, () => {
        if (isStopping) process.exit(1);
        isStopping = true;
        stop();
      });
  });
  const guard = guardOf(settings, {
    log,
    fetch: metrics.fetch,
    onEvent: () => metrics.noteEvent(),
    onFeedProblem: (problem) => {
      reason = reasons.of(problem);
    },
  });
  const findReason = (): string | undefined =>
    isStopping ? 'the process stops' : guard.isCurrent() ? undefined : reason;
  const servers: Server[] = [];
  try {
    for (const address of settings.listen) {
      const server = serverOf({ guard, metrics, log, findReason, isStopping: () => isStopping });
      await listen(server, address, settings.socketMode);
      server.on('error', (error) =>
        log.warnOnce('accept', `no connection can be accepted: ${error.message}`),
      );
      servers.push(server);
    }
  } catch (error) {
    for (const server of servers) server.close();
    await guard.close();
    throw error;
  }
  log.info('listening', { version: VERSION, ...shownOf(settings) });
  await stopped;
  log.info('stopping');
  await Promise.all(servers.map(close));
  await guard.close();
  log.info('stopped');
}

async function listen(server: Server, address: Listen, socketMode: number): Promise<void> {
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
async function close(server: Server): Promise<void> {
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
