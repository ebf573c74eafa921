import { type ArgumentsHost, Catch, type ExceptionFilter, Logger } from '@nestjs/common';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import {
  isDatabaseUnavailable,
  isLostConflict,
  isReadOnly,
  isStorageFull,
  LostConflictError,
} from '../database/transactions/database-errors.js';
import { unsupportedMediaType } from './bodies.js';
import { describeError } from '../telemetry/logging/logger.js';
import { PROBLEMS } from '../problems/problem-codes.js';
import {
  Problem,
  PROBLEM_MEDIA_TYPE,
  problemDetails,
  statusOf,
  toProblem,
  UnavailableError,
} from '../problems/problem.js';
import { logUnavailable } from './outage-log.js';
import { clientAddress } from './request-origin.js';
import { TOKEN_PATH } from './paths.js';
import type { Connections } from './connections.js';
import type { RequestLog } from './request-log.js';
import { SECURITY_HEADERS } from './response-headers.js';

@Catch()
export class ProblemFilter implements ExceptionFilter {
  private readonly logger = new Logger('Problems');

  catch(error: unknown, host: ArgumentsHost): void {
    const [request, reply] = host.getArgs<[FastifyRequest, FastifyReply]>();
    sendProblem(problemOf(error), request, reply, this.logger);
  }
}

const READ_ONLY = 'The database accepts no changes right now. Nothing was changed. Repeat the request later.';

export function problemOf(error: unknown): Problem {
  // Check the status first, because a client that resets its connection causes the same ECONNRESET as a database.
  if (statusOf(error) !== undefined) return toProblem(error);
  if (isStorageFull(error)) {
    return new Problem('storage_full', { headers: { 'Retry-After': '30' }, cause: error });
  }
  if (isReadOnly(error)) return new UnavailableError(READ_ONLY, 5, error);
  if (isDatabaseUnavailable(error)) return new UnavailableError(PROBLEMS.unavailable.detail, 1, error);
  if (isLostConflict(error)) return new LostConflictError(error);
  return toProblem(error);
}

export function sendProblem(error: Problem, request: FastifyRequest, reply: FastifyReply, log: Logger): void {
  const problem = error.code === 'unsupported_media_type' ? unsupportedMediaType(request) : error;
  if (problem.status === 500) {
    log.error({ msg: problem.message, requestId: request.id, err: describeError(problem.cause) });
  }
  if (problem.status === 503) logUnavailable(problem, request.id, log);
  request.problem = problem;
  // Node would parse the unread body as the next request on the connection.
  if (problem.code === 'unsupported_media_type') reply.header('Connection', 'close');
  void reply
    .status(problem.status)
    // Nest has already set the headers of the route, which may allow caching.
    .header('Cache-Control', 'no-store')
    .headers(problem.headers)
    .type(PROBLEM_MEDIA_TYPE)
    .send(problemDetails(problem, request.id, request.routeOptions.url === TOKEN_PATH));
}

export function replaceNodeAnswers(fastify: FastifyInstance): void {
  // RFC 9112 section 3.2. HTTP/1.0 may leave it out.
  fastify.addHook('onRequest', (request, _reply, done) => {
    const { headersDistinct, httpVersion } = request.raw;
    const hosts = headersDistinct['host']?.length ?? 0;
    const accepted = hosts === 1 || (hosts === 0 && httpVersion === '1.0');
    done(accepted ? undefined : new Problem('bad_request', { detail: 'Send one Host header.' }));
  });
  const { server } = fastify;
  // RFC 9110 section 10.1.1
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    server.emit('request', request, response);
  });
  // RFC 9110 section 9.3.6
  server.on('connect', ({ socket }: IncomingMessage) => {
    socket.on('error', () => socket.destroy());
    server.emit('clientError', new Error('CONNECT'), socket);
  });
}

/** Accounts discards what the client still sends, so that the client can read the answer (RFC 9112 section 9.6). */
const LINGER_MS = 1000;

const CUT_OFF = 'HPE_INVALID_EOF_STATE';

const STATUS_BY_CODE: Record<string, number> = { ERR_HTTP_REQUEST_TIMEOUT: 408, HPE_HEADER_OVERFLOW: 431 };

/** Answers unreadable or incomplete requests after the connection's earlier requests. */
export class BrokenRequests {
  private readonly logger = new Logger('Http');
  private readonly broken = new WeakSet<Socket>();

  constructor(
    private readonly connections: Connections,
    private readonly log: RequestLog,
  ) {}

  refuse(error: NodeJS.ErrnoException, socket: Socket): void {
    if (this.broken.has(socket)) {
      if (socket.writable) socket.pause();
      return;
    }
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    this.broken.add(socket);
    socket.pause();
    const statusCode = STATUS_BY_CODE[error.code ?? ''] ?? 400;
    const problem = toProblem(Object.assign(new Error(), { statusCode }));
    const exchanges = this.connections.on(socket);
    const { arriving } = exchanges;
    if (!arriving) return exchanges.whenAnswered(() => this.close(problem, socket));

    sendProblem(problem, arriving.request, arriving.header('Connection', 'close'), this.logger);
    if (error.code === CUT_OFF) exchanges.end(arriving, true);
  }

  private close(problem: Problem, socket: Socket): void {
    if (!socket.writable) return;
    const requestId = randomUUID();
    if (socket.bytesRead > 0) this.log.writeUnreadable(problem, requestId, clientAddress({ ip: '', socket }));
    socket.end(rawAnswer(problem, requestId));
    socket.resume();
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  }
}

function rawAnswer(problem: Problem, requestId: string): string {
  const body = JSON.stringify(problemDetails(problem, requestId));
  const headers = {
    ...SECURITY_HEADERS,
    'Content-Type': PROBLEM_MEDIA_TYPE,
    'Content-Length': String(Buffer.byteLength(body)),
    'X-Request-Id': requestId,
    Connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n${lines.join('')}\r\n${body}`;
}
