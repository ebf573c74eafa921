import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Problem, type ProblemOptions } from '../problems/problem.js';
import type { Admission, Quota } from './rate-limit-store.js';
import { rateLimitDecided } from '../telemetry/metrics/measurements.js';
import { isCounted, type NamedCounter, type RateLimitName, refusalOf } from './rate-limit-rules.js';

export class RateLimitedError extends Problem {
  constructor(detail: string, retryAfterSeconds: number, logged: Pick<ProblemOptions, 'limit' | 'userId'>) {
    super('rate_limited', { detail, headers: { 'Retry-After': String(retryAfterSeconds) }, ...logged });
  }
}

const secondsOf = (ms: number): number => Math.max(1, Math.ceil(ms / 1000));

export const refusedBy = (limit: RateLimitName, { resetMs }: Quota, userId?: string): RateLimitedError =>
  new RateLimitedError(refusalOf(limit), secondsOf(resetMs), { limit, userId });

type Decided = NamedCounter & Quota;

declare module 'fastify' {
  interface FastifyRequest {
    admission?: { decided: readonly Decided[]; giveBack: Admission['giveBack'] };
  }
}

/** draft-ietf-httpapi-ratelimit-headers: two RFC 9651 lists with an item for each limit */
function setHeaders(reply: FastifyReply, decided: readonly Decided[]): void {
  const policies = decided.map(({ name, limit, windowMs }) => `"${name}";q=${limit};w=${windowMs / 1000}`);
  const limits = decided.map(
    ({ name, remaining, resetMs }) => `"${name}";r=${remaining};t=${secondsOf(resetMs)}`,
  );
  reply.headers({ 'RateLimit-Policy': policies.join(', '), RateLimit: limits.join(', ') });
}

export function admit(
  request: FastifyRequest,
  reply: FastifyReply,
  counters: readonly NamedCounter[],
  { admitted, quotas, giveBack }: Admission,
  userId?: string,
): void {
  const own = counters.map((counter, i) => ({ ...counter, ...quotas[i]! }));
  const decided = [...(request.admission?.decided ?? []), ...own];
  setHeaders(reply, decided);
  // A limit that still had quota when another limit refused did not decide.
  const decisive = own.filter(({ remaining }) => admitted || remaining === 0);
  const decision = admitted ? 'admitted' : 'refused';
  for (const { name: limit } of decisive) rateLimitDecided.emit({ limit, decision });
  if (!admitted) {
    const latest = decisive.toSorted((a, b) => b.resetMs - a.resetMs)[0]!;
    throw refusedBy(latest.name, latest, userId);
  }
  request.admission = { decided, giveBack };
}

/** Runs in the background, because an answer that waits for it could miss the deadline. */
export function giveBackUncounted(fastify: FastifyInstance): void {
  fastify.decorateRequest('admission', undefined);
  fastify.addHook('onSend', (request, reply, _payload, done) => {
    const { admission, problem } = request;
    const uncounted = admission?.decided.filter((one) => !isCounted(one, reply.statusCode, problem?.code));
    if (admission && uncounted?.length) {
      request.admission = undefined;
      void admission.giveBack(uncounted);
      for (const one of uncounted) one.remaining += 1;
      setHeaders(reply, admission.decided);
    }
    done();
  });
}
