import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { Logger } from '@nestjs/common';
import { type Problem, PROBLEM_MEDIA_TYPE, problemDetails, toProblem } from '../problems/problem.js';
import { clientAddress } from './client-address.js';
import type { Connections } from './connections.js';
import { sendProblem } from './problem.filter.js';
import type { RequestLog } from './request-log.js';
import { SECURITY_HEADERS } from './security-headers.js';

/** time to discard what the client still sends, so that it can read the answer (RFC 9112 section 9.6) */
const LINGER_MS = 1000;

/** the client stopped sending in the middle of a request */
const CUT_OFF = 'HPE_INVALID_EOF_STATE';

const STATUS_BY_ERROR_CODE: Record<string, number> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
};

/** Answers unreadable or incomplete requests with a problem, after the connection's earlier requests. */
export class BrokenRequests {
  private readonly logger = new Logger('Http');
  private readonly broken = new WeakSet<Socket>();

  constructor(
    private readonly connections: Connections,
    private readonly log: RequestLog,
  ) {}

  refuse(error: NodeJS.ErrnoException, socket: Socket): void {
    if (this.broken.has(socket)) {
      // Wait for the answers to earlier requests; what arrives after them is discarded.
      if (socket.writable) socket.pause();
      return;
    }
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    this.broken.add(socket);
    socket.pause();
    const statusCode = STATUS_BY_ERROR_CODE[error.code ?? ''] ?? 400;
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
    socket.end(response(problem, requestId));
    socket.resume();
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  }
}

function response(problem: Problem, requestId: string): string {
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
