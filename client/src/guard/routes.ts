import type { IncomingMessage } from 'node:http';
import type { CallToken } from '../service/call-tokens.ts';
import { SERVICE_NAME } from '../service/claims.ts';
import type { Guard } from '../service/guard.ts';
import { type Refusal, unauthorized } from '../service/refusal.ts';
import { type Answer, invalid, ok, problem, readTexts, refusal } from './answers.ts';
import { headersOf } from './checks.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import { VERSION } from './settings.ts';

/** What answers need. */
export interface Sidecar {
  guard: Guard;
  metrics: Metrics;
  log: Pick<Log, 'warnOnce'>;
  isStopping: boolean;
  /** Why the guard cannot decide, if it cannot. */
  reason: string;
}

interface Route {
  methods: readonly string[];
  answer(request: IncomingMessage, sidecar: Sidecar): Answer | Promise<Answer>;
}
const READS = ['GET', 'HEAD'];
const POSTS = ['POST'];

const ROUTES: Readonly<Record<string, Route>> = {
  '/exchange': { methods: POSTS, answer: exchange },
  '/token': { methods: POSTS, answer: tokenForUser },
  '/own-token': { methods: POSTS, answer: ownToken },
  '/role': { methods: READS, answer: roleOf },
  '/health/live': { methods: READS, answer: () => ok({ status: 'ok' }) },
  '/health/ready': { methods: READS, answer: readiness },
  '/metrics': { methods: READS, answer: metricsOf },
};

/** Finds the route of a request that is not a check. */
export function routeOf({ url = '', method = '' }: IncomingMessage): Route {
  const [path = ''] = url.split('?', 1);
  const route = Object.hasOwn(ROUTES, path) ? ROUTES[path] : undefined;
  if (!route) return { methods: [], answer: () => problem(404, 'not_found', 'There is no such path.') };
  if (route.methods.includes(method)) return route;
  const Allow = route.methods.join(', ');
  const detail = `Send ${route.methods[0]!}.`;
  return { methods: [], answer: () => problem(405, 'method_not_allowed', detail, { Allow }) };
}

async function exchange(request: IncomingMessage, { guard }: Sidecar): Promise<Answer> {
  const exchanged = await guard.exchange(await readTexts(request, ['code', 'codeVerifier']));
  if (!exchanged.ok) return refusal(exchanged);
  const { token, user, session } = exchanged;
  return ok({ token, user, session });
}

async function tokenForUser(request: IncomingMessage, { guard }: Sidecar): Promise<Answer> {
  const { authorization } = headersOf(request.rawHeaders);
  if (authorization.length !== 1) return refusal(unauthorized());
  const { audience, org } = await readTexts(request, ['audience'], ['org']);
  requireName(audience);
  // Without its organization, a key of an organization is rejected.
  const where = org === undefined ? {} : { orgId: org };
  const admission = await guard.authorize(authorization[0], { keys: true, ...where });
  return admission.ok ? callToken(await guard.tokenFor(audience, admission)) : refusal(admission);
}

/** A path apart, so that a lost `Authorization` never turns a user's call into the service's own. */
async function ownToken(request: IncomingMessage, { guard }: Sidecar): Promise<Answer> {
  const { audience } = await readTexts(request, ['audience']);
  requireName(audience);
  return callToken(await guard.ownTokenFor(audience));
}

function requireName(audience: string): void {
  if (!SERVICE_NAME.test(audience)) throw invalid('audience must be the name of a service.');
}

function callToken(issued: CallToken | Refusal): Answer {
  return issued.ok ? ok({ token: issued.token, expiresAt: issued.expiresAt }) : refusal(issued);
}

async function roleOf({ url = '' }: IncomingMessage, { guard }: Sidecar): Promise<Answer> {
  const query = new URLSearchParams(url.replace(/^[^?]*/, ''));
  const [user, org] = [query.get('user'), query.get('org')];
  if (!user || !org || query.size !== 2)
    throw invalid('user and org are required, once each, and nothing else.');
  const found = await guard.roleOf(user, org);
  return found.ok ? ok({ role: found.role ?? null }) : refusal(found);
}

function readiness(_request: IncomingMessage, { guard, isStopping, reason }: Sidecar): Answer {
  if (!isStopping && guard.isCurrent()) return ok({ status: 'ok' });
  return { status: 503, body: { status: 'unavailable', reason: isStopping ? 'the process stops' : reason } };
}

function metricsOf(_request: IncomingMessage, { guard, metrics }: Sidecar): Answer {
  const headers = { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' };
  return { status: 200, headers, body: metrics.text(VERSION, guard.isCurrent()) };
}
