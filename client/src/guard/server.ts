import { createServer, type IncomingMessage, Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { SERVICE_NAME } from '../service/claims.ts';
import type { Admission, Guard, MemberAdmission, ServiceAdmission } from '../service/guard.ts';
import { revisionOf } from '../service/own-revision.ts';
import { type Refusal, unauthorized } from '../service/refusal.ts';
import { type Answer, invalid, ok, problem, readTexts, refused, send } from './answers.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import { InvalidCheck, type Requirement, requirementOf } from './requirement-of.ts';

/** nginx and Envoy keep a connection for 60 s. */
const KEPT_ALIVE_MS = 75_000;
const REQUEST_TIMEOUT_MS = 10_000;
/** Longer than a check takes. A socket that reads no answer is closed. */
const IDLE_TIMEOUT_MS = 20_000;
const HEADERS_SIZE = 16 * 1024;

export interface Sidecar {
  guard: Guard;
  metrics: Metrics;
  log: Log;
  /** Why the sidecar is not ready; undefined if it is. */
  findReason: () => string | undefined;
  isStopping: () => boolean;
}

type Route = (request: IncomingMessage, sidecar: Sidecar) => Answer | Promise<Answer>;
const ROUTES: Readonly<Record<string, { methods: string[]; route: Route }>> = {
  '/exchange': { methods: ['POST'], route: exchange },
  '/token': { methods: ['POST'], route: token },
  '/own-token': { methods: ['POST'], route: ownToken },
  '/role': { methods: ['GET', 'HEAD'], route: role },
  '/health/live': { methods: ['GET', 'HEAD'], route: () => ok({ status: 'ok' }) },
  '/health/ready': { methods: ['GET', 'HEAD'], route: ready },
  '/metrics': { methods: ['GET', 'HEAD'], route: metricsText },
};

export function serverOf(sidecar: Sidecar): Server {
  const options = {
    keepAliveTimeout: KEPT_ALIVE_MS,
    headersTimeout: REQUEST_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: 1_000,
    maxHeaderSize: HEADERS_SIZE,
  };
  const listener = (request: IncomingMessage, response: ServerResponse): void =>
    void answer(request, response, sidecar);
  const server = createServer(options, listener);
  // Node would drop further headers in silence, and with them a second Authorization.
  server.maxHeadersCount = 0;
  server.timeout = IDLE_TIMEOUT_MS;
  // Without these, Node asks for the body, and closes a connection without an answer.
  server.on('checkContinue', listener).on('checkExpectation', listener);
  server.on('connect', (_request, socket) => refuseRaw(socket, 405, 'method_not_allowed'));
  server.on('clientError', ({ code }: NodeJS.ErrnoException, socket) => {
    if (code === 'HPE_HEADER_OVERFLOW') refuseRaw(socket, 431, 'headers_too_large');
    else if (code === 'ERR_HTTP_REQUEST_TIMEOUT') refuseRaw(socket, 408, 'timed_out');
    else refuseRaw(socket, 400, 'malformed_request');
  });
  return server;
}

async function answer(request: IncomingMessage, response: ServerResponse, sidecar: Sidecar): Promise<void> {
  const headers = headersOf(request.rawHeaders);
  let given: Answer | undefined;
  try {
    given =
      (await answerToCheck(request, headers, response, sidecar)) ?? (await answerToOther(request, sidecar));
  } catch (error) {
    // The client left while it sent a body.
    if (request.destroyed && !request.complete) return;
    sidecar.log.warnOnce('internal_error', `a request failed: ${String(error)}`);
    given = problem(500, 'internal_error', 'The sidecar failed. Its log has the reason.');
  }
  if (!response.destroyed)
    send(response, given, (headers.hasBody && !request.readableEnded) || sidecar.isStopping());
}

async function answerToCheck(
  request: IncomingMessage,
  headers: RequestHeaders,
  response: ServerResponse,
  sidecar: Sidecar,
): Promise<Answer | undefined> {
  const { metrics, log } = sidecar;
  const begunAt = performance.now();
  let given: Answer;
  try {
    const required = requirementOf(request.url!, headers.forwarded);
    if (required === undefined) return undefined;
    metrics.waitingChecks += 1;
    try {
      given = await check(required, headers, response, sidecar.guard);
    } finally {
      metrics.waitingChecks -= 1;
    }
  } catch (error) {
    if (!(error instanceof InvalidCheck)) throw error;
    log.warnOnce(error.message, `a check means nothing (invalid_check): ${error.message}`);
    given = problem(500, 'invalid_check', error.message);
  }
  // nginx passes no body on.
  if (given.status !== 200)
    given.headers = { ...given.headers, 'X-Accounts-Problem': JSON.stringify(given.body) };
  metrics.noteCheck(given.status, performance.now() - begunAt);
  return given;
}

interface RequestHeaders {
  hasBody: boolean;
  authorization: string[];
  revision: string[];
  forwarded: string[];
}

/** Reads what Node received, because Node itself takes the first of two `Authorization` headers. */
function headersOf(raw: readonly string[]): RequestHeaders {
  const headers: RequestHeaders = { hasBody: false, authorization: [], revision: [], forwarded: [] };
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index]!.toLowerCase();
    if (name === 'authorization') headers.authorization.push(raw[index + 1]!);
    else if (name === 'accounts-revision') headers.revision.push(raw[index + 1]!);
    else if (name === 'transfer-encoding') headers.hasBody = true;
    else if (name === 'content-length') headers.hasBody ||= Number(raw[index + 1]) !== 0;
    else if (name === 'x-forwarded-uri') headers.forwarded.push(raw[index + 1]!);
  }
  return headers;
}

async function check(
  required: Requirement,
  headers: RequestHeaders,
  response: ServerResponse,
  guard: Guard,
): Promise<Answer> {
  if (headers.authorization.length > 1) return refused(unauthorized());
  const [authorization] = headers.authorization;
  // Only without options the guard takes its short way.
  if (required.kind === 'users' && required.of === undefined)
    return userAnswer(await guard.authorize(authorization));
  const signal = leftSignal(response);
  if (required.kind === 'services') {
    const { from } = required;
    return serviceAnswer(await guard.authorizeService(authorization, { from, signal }));
  }
  if (required.kind === 'users')
    return userAnswer(await guard.authorize(authorization, { ...required.of, signal }));
  const { of, orgId, role: least } = required;
  const atLeast = revisionOf(headers.revision, orgId);
  return userAnswer(
    await guard.authorize(authorization, { ...of, orgId, role: least, atLeast, signal }),
    orgId,
  );
}

/** Ends the waiting for a client that has left. */
function leftSignal(response: ServerResponse): AbortSignal {
  const left = new AbortController();
  response.once('close', () => response.writableFinished || left.abort());
  return left.signal;
}

/** All headers are always sent, because a proxy would pass on the client's own in place of an absent one. */
function admitted(
  given: Partial<Record<'User' | 'Session' | 'Amr' | 'Org' | 'Role' | 'Via' | 'Key' | 'Service', string>>,
): Record<string, string> {
  const { User = '', Session = '', Amr = '', Org = '', Role = '', Via = '', Key = '', Service = '' } = given;
  return {
    'X-Accounts-User': User,
    'X-Accounts-Session': Session,
    'X-Accounts-Amr': Amr,
    'X-Accounts-Org': Org,
    'X-Accounts-Role': Role,
    'X-Accounts-Via': Via,
    'X-Accounts-Key': Key,
    'X-Accounts-Service': Service,
  };
}

function userAnswer(admission: Admission | MemberAdmission | Refusal, orgId?: string): Answer {
  if (!admission.ok) return refused(admission);
  const { user, session, via } = admission;
  const [User, Session, Amr, Via] = [user.id, session.id, session.amr.join(), via.join()];
  const member =
    orgId !== undefined && 'role' in admission ? { org: orgId, role: admission.role } : undefined;
  const headers = admitted({
    User,
    Session,
    Amr,
    Via,
    ...(member && { Org: member.org, Role: member.role }),
  });
  return { status: 200, headers, body: { user, session, ...member } };
}

function serviceAnswer(admission: ServiceAdmission | Refusal): Answer {
  if (!admission.ok) return refused(admission);
  const { service } = admission;
  return { status: 200, headers: admitted({ Service: service.name }), body: { service } };
}

async function answerToOther(request: IncomingMessage, sidecar: Sidecar): Promise<Answer> {
  const [path = ''] = request.url!.split('?', 1);
  const known = Object.hasOwn(ROUTES, path) ? ROUTES[path] : undefined;
  if (!known) return problem(404, 'not_found', 'There is nothing here.');
  if (known.methods.includes(request.method!)) return known.route(request, sidecar);
  const Allow = known.methods.join(', ');
  return problem(405, 'method_not_allowed', `This needs ${known.methods[0]!}.`, { Allow });
}

async function exchange(request: IncomingMessage, { guard }: Sidecar): Promise<Answer> {
  const read = await readTexts(request, ['code', 'codeVerifier']);
  if ('status' in read) return read;
  const exchanged = await guard.exchange(read);
  if (!exchanged.ok) return refused(exchanged);
  const { token: opened, user, session } = exchanged;
  return ok({ token: opened, user, session });
}

async function token(request: IncomingMessage, { guard }: Sidecar): Promise<Answer> {
  const { authorization } = headersOf(request.rawHeaders);
  if (authorization.length !== 1) return refused(unauthorized());
  const audience = await audienceOf(request);
  if (typeof audience !== 'string') return audience;
  const admission = await guard.authorize(authorization[0]);
  return admission.ok ? callToken(await guard.tokenFor(audience, admission)) : refused(admission);
}

async function ownToken(request: IncomingMessage, { guard }: Sidecar): Promise<Answer> {
  const audience = await audienceOf(request);
  return typeof audience === 'string' ? callToken(await guard.ownTokenFor(audience)) : audience;
}

async function audienceOf(request: IncomingMessage): Promise<string | Answer> {
  const read = await readTexts(request, ['audience']);
  if ('status' in read) return read;
  const { audience } = read as { audience: string };
  return SERVICE_NAME.test(audience) ? audience : invalid('audience must be the name of a service.');
}

function callToken(given: Awaited<ReturnType<Guard['ownTokenFor']>>): Answer {
  if (!given.ok) return refused(given);
  return ok({ token: given.token, expiresAt: given.expiresAt });
}

async function role(request: IncomingMessage, { guard }: Sidecar): Promise<Answer> {
  const query = new URLSearchParams(request.url!.split('?').slice(1).join('?'));
  const [[user, ...users], [org, ...orgs]] = [query.getAll('user'), query.getAll('org')];
  if (!user || !org || users.length + orgs.length > 0 || query.size > 2)
    return invalid('user and org must be given, once each, and nothing else.');
  const found = await guard.roleOf(user, org);
  return found.ok ? ok({ role: found.role ?? null }) : refused(found);
}

function ready(_request: IncomingMessage, { findReason }: Sidecar): Answer {
  const reason = findReason();
  return reason === undefined
    ? ok({ status: 'ok' })
    : { status: 503, body: { status: 'unavailable', reason } };
}

function metricsText(_request: IncomingMessage, { metrics, guard }: Sidecar): Answer {
  const headers = { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' };
  return { status: 200, headers, body: metrics.text(guard.isCurrent()) };
}

function refuseRaw(socket: Duplex, status: number, code: string): void {
  if (!socket.writable) return void socket.destroy();
  const { body } = problem(status, code, 'The request is not one that the sidecar can read.');
  const text = JSON.stringify(body);
  socket.end(
    `HTTP/1.1 ${status} ${code}\r\nContent-Type: application/problem+json\r\nCache-Control: no-store\r\n` +
      `Content-Length: ${text.length}\r\nConnection: close\r\n\r\n${text}`,
  );
}
