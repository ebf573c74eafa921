import type { Server } from 'node:http';
import type { FastifyHttpOptions } from 'fastify';
import { Logger } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Socket } from 'node:net';
import type { Logger as PinoLogger } from 'pino';
import type { Env } from '../config/env.js';
import { toProblem } from '../problems/problem.js';
import { BrokenRequests, sendProblem } from './problem.filter.js';
import { clientAddress, requestIdOf, trustRanges } from './request-origin.js';
import type { Connections } from './connections.js';
import { issuerPaths } from './paths.js';
import type { RequestLog } from './request-log.js';
import { SECURITY_HEADERS } from './response-headers.js';
import { hostAndPort, listenFailure } from '../config/ip-address.js';

const BODY_LIMIT_BYTES = 16 * 1024;
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 15_000;
const CONNECTION_CHECK_MS = 1000;
/** longer than proxies keep idle connections, so that the proxy is the one to close them */
const KEEP_ALIVE_TIMEOUT_MS = 72_000;
/** Ids are opaque: the handler, not the router, says that an overlong one does not exist. */
const MAX_PARAM_LENGTH = 16 * 1024;

// Nest's pipe validates bodies; by default Fastify would load Ajv and other JSON Schema compilers at every start.
const NO_JSON_SCHEMAS: FastifyHttpOptions<Server>['schemaController'] = {
  compilersFactory: { buildValidator: refuseSchema, buildSerializer: refuseSchema },
};

export function fastifyOptions(
  env: Env,
  connections: Connections,
  log: RequestLog,
): FastifyHttpOptions<Server> {
  const brokenRequests = new BrokenRequests(connections, log);
  const routeOf = issuerPaths(env.jwtIssuer);
  return {
    logger: false,
    bodyLimit: BODY_LIMIT_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    http: {
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: CONNECTION_CHECK_MS,
      requireHostHeader: false,
    },
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    // `OPTIONS *` names no path: Fastify's router would answer it without the hooks that log it.
    rewriteUrl: ({ url = '/' }) => (url.startsWith('*') ? `/${url}` : routeOf(url)),
    // While closing, requests on open connections are served as usual.
    return503OnClosing: false,
    trustProxy: env.trustProxy.length > 0 ? trustRanges(env.trustProxy) : false,
    genReqId: requestIdOf,
    schemaController: NO_JSON_SCHEMAS,
    // A URL that cannot be decoded bypasses the framework and its hooks.
    frameworkErrors: (error, request, reply) => {
      reply.headers(SECURITY_HEADERS).header('X-Request-Id', request.id);
      sendProblem(toProblem(error), request, reply, new Logger('Http'));
      connections.report({ reply, ip: clientAddress(request), aborted: false });
    },
    clientErrorHandler: (error, socket) => brokenRequests.refuse(error, socket),
  };
}

function refuseSchema(): never {
  throw new Error('no route of this service has a JSON Schema');
}

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
  log: PinoLogger,
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
