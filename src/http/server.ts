import type { Server } from 'node:http';
import type { FastifyHttpOptions } from 'fastify';
import { Logger } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Logger as PinoLogger } from 'pino';
import type { Env } from '../config/env.js';
import { toProblem } from '../problems/problem.js';
import { BrokenRequests, sendProblem } from './problem.filter.js';
import { clientAddress, requestIdOf, trustRanges } from './request-origin.js';
import type { Connections, IdleConnections } from './connections.js';
import { issuerPaths, MAX_PARAM_LENGTH } from './paths.js';
import type { RequestLog } from './request-log.js';
import { SECURITY_HEADERS } from './response-headers.js';

const BODY_LIMIT_BYTES = 16 * 1024;
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 15_000;
const CONNECTION_CHECK_MS = 1000;
/** longer than that of common proxies, so that the proxy closes idle connections first */
const KEEP_ALIVE_TIMEOUT_MS = 72_000;

// By default Fastify loads Ajv and other compilers at every start.
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
    // Fastify's router would answer `OPTIONS *` without the hooks that log it.
    rewriteUrl: ({ url = '/' }) => (url.startsWith('*') ? `/${url}` : routeOf(url)),
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

const IDLE_CHECK_MS = 50;
const SHUTDOWN_TIMEOUT_MS = 9000;

interface Stopping {
  /** while connections are still accepted */
  drain: (signal: NodeJS.Signals) => Promise<void>;
  beforeExit: () => Promise<void>;
}

/** Closes idle connections, which would keep the process running until their own timeout. */
export function stopOnSignals(
  app: NestFastifyApplication,
  log: PinoLogger,
  idle: IdleConnections,
  { drain, beforeExit }: Stopping,
): void {
  let stopping = false;
  const stop = (signal: NodeJS.Signals): void => {
    if (stopping) return;
    stopping = true;
    log.info({ msg: 'stopping', signal });
    setInterval(() => {
      if (app.getHttpServer().listening) return;
      app.getHttpServer().closeIdleConnections();
      idle.closeSilent();
    }, IDLE_CHECK_MS).unref();
    setTimeout(() => {
      log.warn('stopping although requests are still running');
      process.exit(0);
    }, SHUTDOWN_TIMEOUT_MS).unref();
    const closed = drain(signal)
      .then(() => app.close())
      .then(beforeExit);
    void closed.then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ msg: 'stopping failed', err: error });
        process.exit(1);
      },
    );
  };
  // Without a listener, a second signal (process group, parent) would kill the process.
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}
