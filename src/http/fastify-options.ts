import type { Server } from 'node:http';
import type { FastifyHttpOptions } from 'fastify';
import { Logger } from '@nestjs/common';
import type { Env } from '../config/env.js';
import { toProblem } from '../problems/problem.js';
import { BrokenRequests } from './broken-requests.js';
import { clientAddress, requestIdOf, trustRanges } from './request-origin.js';
import type { Connections } from './connections.js';
import { issuerPaths } from './paths.js';
import { sendProblem } from './problem.filter.js';
import type { RequestLog } from './request-log.js';
import { SECURITY_HEADERS } from './response-headers.js';

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
