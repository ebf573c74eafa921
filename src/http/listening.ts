import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import { hostAndPort, listenFailure } from '../config/ip-address.js';
import type { Env } from '../config/env.js';

export class ListenError extends Error {
  constructor(host: string, port: number, code: string | undefined) {
    super(`PORT, HOST: cannot listen on ${hostAndPort(host, port)} (${listenFailure(code)})`);
  }
}

/** @throws ListenError also for an unknown host, whose error looks like that of a database */
export async function listen(app: NestFastifyApplication, { port, host }: Env): Promise<void> {
  try {
    await app.listen(port, host);
  } catch (error) {
    throw new ListenError(host, port, (error as NodeJS.ErrnoException).code);
  }
}

const IDLE_CHECK_MS = 50;
const SHUTDOWN_TIMEOUT_MS = 9000;

/** Finishes requests in flight, and closes idle connections, which would hold the process until their own timeout. */
export function stopOnSignals(
  app: NestFastifyApplication,
  log: Logger,
  beforeExit: () => Promise<void>,
): void {
  const closeIdleConnections = watchIdleConnections(app.getHttpServer());
  let stopping = false;
  const stop = (signal: NodeJS.Signals): void => {
    if (stopping) return;
    stopping = true;
    log.info({ msg: 'stopping', signal });
    setInterval(closeIdleConnections, IDLE_CHECK_MS).unref();
    setTimeout(() => {
      log.warn('stopping although requests are still running');
      process.exit(0);
    }, SHUTDOWN_TIMEOUT_MS).unref();
    const closed = app.close().then(beforeExit);
    void closed.then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ msg: 'stopping failed', err: error });
        process.exit(1);
      },
    );
  };
  // Keep listening: without a listener, a second signal (from the process group and from the parent) would kill.
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

/** @returns a function that closes idle connections; Node 24 itself skips those that have received nothing yet */
function watchIdleConnections(server: Server): () => void {
  const connections = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  return () => {
    server.closeIdleConnections();
    for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
  };
}
