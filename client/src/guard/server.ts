import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Answer, problem, Refused, send } from './answers.ts';
import { check, type GuardHeaders, headersOf } from './checks.ts';
import { InvalidCheck, requirementOf } from './requirement-of.ts';
import { routeOf, type Sidecar } from './routes.ts';

const OPTIONS = {
  // nginx and Envoy keep a connection for 60 s.
  keepAliveTimeout: 75_000,
  headersTimeout: 10_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 16 * 1024,
};
/** Longer than a decision takes. */
const UNREAD_TIMEOUT_MS = 20_000;

export function serverOf(sidecar: Sidecar): Server {
  const listener = (request: IncomingMessage, response: ServerResponse): void =>
    void respond(request, response, sidecar);
  const server = createServer(OPTIONS, listener);
  // Node would ignore headers over its own limit, a second Authorization too.
  server.maxHeadersCount = 0;
  // Closes sockets that do not read their answer.
  server.timeout = UNREAD_TIMEOUT_MS;
  // Without listeners, Node would ask for the body of a check, and refuse other expectations.
  server.on('checkContinue', listener).on('checkExpectation', listener);
  server.on('connect', (_request, socket) =>
    refuse(socket, problem(405, 'method_not_allowed', 'This is no proxy.')),
  );
  server.on('clientError', ({ code }: NodeJS.ErrnoException, socket) => {
    if (code === 'HPE_HEADER_OVERFLOW')
      refuse(socket, problem(431, 'headers_too_large', 'The headers are larger than 16 KiB.'));
    else if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
      refuse(socket, problem(408, 'timed_out', 'The request was not complete after 10 seconds.'));
    else refuse(socket, problem(400, 'malformed_request', 'The request is not HTTP/1.1.'));
  });
  return server;
}

async function respond(request: IncomingMessage, response: ServerResponse, sidecar: Sidecar): Promise<void> {
  const headers = headersOf(request.rawHeaders);
  const answer = await answerTo(request, headers, response, sidecar);
  // The client may have left.
  if (response.destroyed) return;
  const isUnread = headers.hasBody && !request.readableEnded;
  send(response, answer, isUnread || sidecar.isStopping);
}

async function answerTo(
  request: IncomingMessage,
  headers: GuardHeaders,
  response: ServerResponse,
  sidecar: Sidecar,
): Promise<Answer> {
  try {
    const checked = await answerToCheck(request, headers, response, sidecar);
    if (checked) return checked;
    const route = routeOf(request);
    if (request.headers.expect !== undefined && route.methods.includes('POST')) response.writeContinue();
    return await route.answer(request, sidecar);
  } catch (error) {
    if (error instanceof Refused) return error.answer;
    if (!request.destroyed) sidecar.log.warnOnce('internal_error', `a request failed: ${String(error)}`);
    return problem(500, 'internal_error', 'The sidecar failed, and its log has the reason.');
  }
}

/** Returns undefined if the request is not a check. */
async function answerToCheck(
  request: IncomingMessage,
  headers: GuardHeaders,
  response: ServerResponse,
  { guard, metrics, log }: Sidecar,
): Promise<Answer | undefined> {
  const begunAt = performance.now();
  metrics.waitingChecks += 1;
  try {
    const required = requirementOf(request.url!, headers.forwarded);
    if (required === undefined) return undefined;
    const answer = await check(required, headers, response, guard);
    return noted(answer);
  } catch (error) {
    if (!(error instanceof InvalidCheck)) throw error;
    log.warnOnce(error.message, `a check means nothing (invalid_check): ${error.message}`);
    return noted(problem(500, 'invalid_check', error.message));
  } finally {
    metrics.waitingChecks -= 1;
  }

  function noted(answer: Answer): Answer {
    metrics.noteCheck(answer.status, performance.now() - begunAt);
    if (answer.status === 200) return answer;
    // nginx passes no body on.
    return { ...answer, headers: { ...answer.headers, 'X-Accounts-Problem': JSON.stringify(answer.body) } };
  }
}

function refuse(socket: Duplex, { status, body }: Answer): void {
  if (!socket.writable) return void socket.destroy();
  const text = JSON.stringify(body);
  const lines = [
    `HTTP/1.1 ${status} Refused`,
    'Content-Type: application/problem+json',
    'Cache-Control: no-store',
    `Content-Length: ${text.length}`,
    'Connection: close',
  ];
  socket.end(`${lines.join('\r\n')}\r\n\r\n${text}`);
}
